//! Names in expressions over rows: the columns of the table.

use super::constant::STRINGS;
use super::{Result, Scope};
use crate::bind::names::Names;
use crate::functions::typed::Typed;
use crate::sql::Syntax;
use crate::sql::expression::Expression;
use brc_core::Field;
use brc_core::identifier::quote;

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

    /// The column whose name is more than a word and is written, without quotes, around a word of an expression.
    pub(crate) fn name_around(self, expression: &Expression, word: &str, position: usize) -> Option<&'a str> {
        let names = self.names.schema.fields().iter().map(|field| field.name.as_str());
        expression.name_around(names, word, position)
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
            Err(unknown) => {
                let message = match self.name_around(expression, name, position) {
                    Some(around) => format!("unknown column '{name}'; write {} in double quotes", quote(around)),
                    None if expression.is_quoted(position) => format!("{unknown}{STRINGS}"),
                    None => unknown.to_string(),
                };
                Err(expression.error(message, position))
            }
        }
    }

    fn whole(&mut self, _: &Expression, _: &Syntax) -> Result<Option<Typed>> {
        Ok(None)
    }
}
