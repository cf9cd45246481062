//! What names mean in a row of a table: its columns.

use super::{Result, Scope};
use crate::columns;
use crate::expression::Expression;
use crate::node::Typed;
use crate::sql::Syntax;
use brc_core::{Field, Schema};

/// The columns of a table.
pub(crate) struct RowScope<'a> {
    schema: &'a Schema,
}

impl<'a> RowScope<'a> {
    pub(crate) fn new(schema: &'a Schema) -> Self {
        Self { schema }
    }
}

impl Scope for RowScope<'_> {
    fn fields(&self) -> &[Field] {
        self.schema.fields()
    }

    fn column(&mut self, expression: &Expression, name: &str, position: usize) -> Result {
        match columns::find(self.schema, name) {
            Ok(column) => {
                let field = &self.schema.fields()[column];
                Ok(Typed::column(column, field.logical_type, field.nullable))
            }
            Err(unknown) => Err(expression.error(unknown.to_string(), position)),
        }
    }

    fn whole(&mut self, _: &Expression, _: &Syntax) -> Result<Option<Typed>> {
        Ok(None)
    }
}
