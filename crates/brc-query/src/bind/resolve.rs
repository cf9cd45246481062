//! Conditions bound to the columns of a table, without a query around them.

use crate::sql::expression::Expression;
use brc_core::{Predicate, Result, Schema};

impl Expression {
    /// Binds a condition to the columns of a table, as what encodings skip rows by.
    ///
    /// # Errors
    /// [`brc_core::Error::Usage`] if a column is not there or types do not match, or it is more than comparisons of
    /// columns with constants.
    pub fn resolve(&self, schema: &Schema) -> Result<Predicate> {
        Ok(super::predicate(self, schema)?)
    }
}
