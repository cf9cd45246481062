//! The input columns of a query: those of the table, followed by those computed of each row.

use crate::functions::typed::{Node, Typed};
use brc_core::{Field, LogicalType, Schema};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A column that is computed of those of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Computed {
    pub(crate) field: Field,
    pub(crate) source: Source,
}

/// How it is computed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Source {
    /// Where the row lies in the table: later rows have larger numbers.
    RowNumber,
    Expression(Typed),
}

/// The columns while a query is bound.
pub(crate) struct Inputs {
    fields: Vec<Field>,
    /// How many of them are those of the table.
    of_table: usize,
    pub(crate) computed: Vec<Computed>,
    /// Where each source is among what is computed.
    positions: HashMap<Source, usize>,
}

impl Inputs {
    pub(crate) fn new(schema: &Schema) -> Self {
        let fields = schema.fields().to_vec();
        Self { of_table: fields.len(), fields, computed: Vec::new(), positions: HashMap::new() }
    }

    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The position of an expression. It becomes a new column of that name, unless it is a column of the table.
    pub(crate) fn position(&mut self, name: &str, typed: Typed) -> usize {
        match typed.node {
            Node::Column(column) => column,
            _ => self.add(name, typed.logical_type, typed.nullable, Source::Expression(typed)),
        }
    }

    /// The position of another source.
    pub(crate) fn of(&mut self, source: Source) -> usize {
        self.add("row number", LogicalType::Int64, false, source)
    }

    fn add(&mut self, name: &str, logical_type: LogicalType, nullable: bool, source: Source) -> usize {
        let next = self.of_table + self.computed.len();
        match self.positions.entry(source) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let field = Field { name: name.to_owned(), logical_type, nullable };
                self.fields.push(field.clone());
                self.computed.push(Computed { field, source: new.key().clone() });
                *new.insert(next)
            }
        }
    }
}
