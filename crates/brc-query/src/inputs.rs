//! The columns that a question works with: those of the table, and behind them what is computed of them row by row.

use crate::evaluate::{Columns, Lent, Program};
use crate::node::{Node, Typed};
use crate::vector::{Fault, Values, Vector};
use brc_core::{Batch, BitmapBuffer, Field, LogicalType, Schema};
use brc_kernels::cpu::Level;
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

/// How many rows a split may have for [`Source::RowNumber`].
const ROW_BITS: u32 = 36;

/// The columns while a question is bound.
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

    /// Where an expression is, which becomes a new column of that name unless it is one.
    pub(crate) fn position(&mut self, name: &str, typed: Typed) -> usize {
        match typed.node {
            Node::Column(column) => column,
            _ => self.add(name, typed.logical_type, typed.nullable, Source::Expression(typed)),
        }
    }

    /// Where something else is.
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

/// Computes columns for a worker's batches.
#[derive(Debug)]
pub(crate) struct Stage {
    steps: Vec<(Step, LogicalType)>,
}

#[derive(Debug)]
enum Step {
    RowNumber,
    Program(Box<Program>),
}

impl Stage {
    /// Computes these columns of batches of a projection.
    pub(crate) fn new(computed: &[Computed], columns: Columns<'_>) -> Self {
        let step = |computed: &Computed| {
            let step = match &computed.source {
                Source::RowNumber => Step::RowNumber,
                Source::Expression(typed) => Step::Program(Box::new(Program::new(typed, columns))),
            };
            (step, computed.field.logical_type)
        };
        Self { steps: computed.iter().map(step).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The columns for a batch, where `wanted` says which rows matter; `None` is all of them.
    pub(crate) fn run<'a>(
        &mut self,
        level: Level,
        batch: &Batch<'a>,
        wanted: Option<&[u64]>,
        place: RowPlace,
    ) -> Result<Vec<Lent<'a>>, Fault> {
        let step = |(step, output): &mut (Step, LogicalType)| match (step, wanted) {
            (Step::RowNumber, _) => Ok(Lent::Vector(place.numbers(batch.rows))),
            (Step::Program(program), None) => program.run(level, batch),
            (Step::Program(program), Some(wanted)) => program.run_where(level, batch, wanted, *output),
        };
        self.steps.iter_mut().map(step).collect()
    }
}

/// Where the next batch begins in its table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowPlace(i64);

impl RowPlace {
    /// The first row of a split.
    pub(crate) fn of_split(split: u64) -> Self {
        Self((split as i64) << ROW_BITS)
    }

    pub(crate) fn advance(&mut self, rows: usize) {
        self.0 += rows as i64;
    }

    /// The number of the first row; those behind it have the next ones.
    pub(crate) fn number(self) -> i64 {
        self.0
    }

    fn numbers(self, rows: usize) -> Vector {
        Vector { values: Values::Narrow((self.0..self.0 + rows as i64).collect()), validity: BitmapBuffer::default() }
    }
}
