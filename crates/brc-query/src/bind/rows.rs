//! Names in expressions over rows: the columns of the table.

use super::{Result, Scope};
use crate::bind::names::Names;
use crate::functions::typed::Typed;
use crate::sql::Syntax;
use crate::sql::expression::Expression;
use brc_core::Field;

/// The columns of a table.
#[derive(Clone, Copy)]
pub(crate) struct RowScope<'a> {
    names: &'a Names<'a>,
}

impl<'a> RowScope<'a> {
    pub(crate) fn new(names: &'a Names<'a>) -> Self {
        Self { names }
    }

    /// The column of that name, if there is one.
    pub(crate) fn field(self, name: &str) -> Option<&'a Field> {
        self.names.position(name).map(|column| &self.names.schema.fields()[column])
    }

    /// Whether there is a column of that name.
    pub(crate) fn has(self, name: &str) -> bool {
        self.field(name).is_some()
    }
}

impl Scope for RowScope<'_> {
    fn fields(&self) -> &[Field] {
        self.names.schema.fields()
    }

    fn column(&mut self, expression: &Expression, name: &str, position: usize) -> Result {
        match self.names.find(name) {
            Ok(column) => {
                let field = &self.fields()[column];
                Ok(Typed::column(column, field.logical_type, field.nullable))
            }
            Err(unknown) => Err(expression.error(unknown.to_string(), position)),
        }
    }

    fn whole(&mut self, _: &Expression, _: &Syntax) -> Result<Option<Typed>> {
        Ok(None)
    }
}
