//! Some columns and rows of a table as a table of its own: what `cat` writes and `head` shows.

mod rows;
mod truth;

use crate::encoding::unread;
use brc_core::{
    Batch, Conjunct, Error, Known, Predicate, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split,
    Summary, Table, TableFile, current_schema,
};
use brc_kernels::cpu::Level;
use brc_kernels::filter::count;
use rows::Taken;
use std::path::Path;
use std::sync::Arc;
use truth::TRUE;

/// Makes the condition on rows from the columns of the table. Where types are inferred, they may become wider, and what a
/// condition compares with is in units of its column's scale.
pub type Filter = dyn Fn(&Schema) -> Result<Predicate> + Send + Sync;

/// A table with only some of the columns of another, and only those of its rows for which a condition is true.
pub struct Projected<'t> {
    table: &'t dyn Table,
    /// The columns; all of them if `None`.
    names: Option<Vec<String>>,
    /// Their positions in the other table, as it is known when this one is made.
    columns: Vec<usize>,
    schema: Schema,
    filter: Option<&'t Filter>,
}

impl<'t> Projected<'t> {
    /// The columns of these names, in this order; all columns if `None`.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such column or one is named twice; [`Error::Unsupported`] if brc does not read one of
    /// the columns; why the condition does not fit the table, as its types are known by now.
    pub fn new(table: &'t dyn Table, columns: Option<&[String]>, filter: Option<&'t Filter>) -> Result<Self> {
        let names = columns.map(<[String]>::to_vec);
        let (schema, columns) = project(table, &current_schema(table), names.as_deref())?;
        if let Some(filter) = &filter {
            filter(&current_schema(table))?;
        }
        Ok(Self { table, names, columns, schema, filter })
    }

    /// The columns, and their positions, where the other table has these.
    fn project(&self, schema: &Schema) -> Result<(Schema, Vec<usize>)> {
        project(self.table, schema, self.names.as_deref())
    }
}

/// The position of the column of that name.
fn find(table: &dyn Table, schema: &Schema, name: &str) -> Result<usize> {
    if let Some(column) = schema.left_out().iter().find(|column| column.name == name) {
        return Err(unread(table.path(), column));
    }
    schema.index_of(name).ok_or_else(|| {
        let names: Vec<_> = schema.fields().iter().map(|field| field.name.as_str()).collect();
        Error::Usage(format!("unknown column '{name}' (columns: {})", names.join(", ")))
    })
}

/// The columns of a schema that are named, and their positions; all of them if none is.
fn project(table: &dyn Table, schema: &Schema, names: Option<&[String]>) -> Result<(Schema, Vec<usize>)> {
    let Some(names) = names else { return Ok((schema.clone(), (0..schema.fields().len()).collect())) };
    let columns = names.iter().map(|name| find(table, schema, name)).collect::<Result<Vec<_>>>()?;
    let fields = columns.iter().map(|&column| schema.fields()[column].clone()).collect();
    let projected = Schema::new(fields).map_err(|error| Error::Usage(error.to_string()))?;
    Ok((projected.with_metadata(schema.metadata().to_vec()), columns))
}

impl Table for Projected<'_> {
    fn path(&self) -> &Path {
        self.table.path()
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inferred(&self) -> Option<Arc<Schema>> {
        let inferred = self.table.inferred()?;
        self.project(&inferred).ok().map(|(schema, _)| Arc::new(schema))
    }

    fn may_gain_columns(&self) -> bool {
        self.table.may_gain_columns()
    }

    fn reads_by_column(&self) -> bool {
        self.table.reads_by_column()
    }

    fn rows(&self) -> Option<u64> {
        self.table.rows()
    }

    fn bytes(&self) -> Option<u64> {
        self.table.bytes()
    }

    fn split(&self, index: u64) -> Option<Split> {
        self.table.split(index)
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        self.table.rows_of(split).filter(|_| self.filter.is_none())
    }

    fn known(&self, split: u64, column: usize) -> Known<'_> {
        self.columns.get(column).map_or(Known::NOTHING, |&column| self.table.known(split, column))
    }

    fn file_of(&self, split: u64) -> Option<TableFile<'_>> {
        self.table.file_of(split).or(Some(TableFile { table: self.table, first_split: 0 }))
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let types = current_schema(self.table);
        let (_, columns) = self.project(&types)?;
        let mut inner = ScanOptions {
            projection: options.projection.iter().map(|&column| columns[column]).collect(),
            predicate: None,
            conjuncts: Vec::new(),
            statistics: false,
            counts: false,
            sums: false,
            order: options.order,
        };
        let shown = inner.projection.len();
        if let Some(filter) = self.filter {
            let predicate = filter(&types)?;
            let mut columns = Vec::new();
            predicate.columns(&mut columns);
            columns.retain(|column| !inner.projection.contains(column));
            inner.projection.extend(columns);
            if self.table.inferred().is_none() {
                inner.conjuncts = conjuncts(&predicate);
                inner.predicate = Some(predicate);
            }
        }
        let scanner = self.table.scanner(&inner)?;
        let tested = inner.conjuncts.into_iter().filter_map(tested).collect();
        let mut condition = Condition { of: self, projection: inner.projection, shown, predicate: None, tested };
        condition.resolve(&types)?;
        Ok(Box::new(ProjectedScanner { scanner, condition }))
    }
}

struct ProjectedScanner<'a> {
    scanner: Box<dyn Scanner + 'a>,
    condition: Condition<'a>,
}

/// Which columns and rows of a batch are handed over.
struct Condition<'a> {
    of: &'a Projected<'a>,
    /// The columns that are read: first those to hand over, then those that only the condition looks at.
    projection: Vec<usize>,
    shown: usize,
    /// Its columns are positions in a batch.
    predicate: Option<Predicate>,
    /// The conditions that the table's scan tests rows by. The columns of each are positions among its own.
    tested: Vec<Predicate>,
}

/// The conditions that a predicate consists of.
fn conjuncts(predicate: &Predicate) -> Vec<Conjunct> {
    if let Predicate::And(parts) = predicate {
        return parts.iter().flat_map(conjuncts).collect();
    }
    let mut columns = Vec::new();
    predicate.columns(&mut columns);
    vec![Conjunct { columns, predicate: Some(predicate.clone()) }]
}

/// A conjunct as what a batch of its columns is tested by.
fn tested(Conjunct { columns, predicate }: Conjunct) -> Option<Predicate> {
    let position = |column| columns.iter().position(|&its| its == column).unwrap_or(0);
    predicate.map(|predicate| at_positions(&predicate, &position))
}

impl Condition<'_> {
    /// Makes the predicate for columns of these types.
    fn resolve(&mut self, types: &Schema) -> Result<()> {
        let Some(filter) = self.of.filter else { return Ok(()) };
        let position = |column| self.projection.iter().position(|&read| read == column).unwrap_or(0);
        self.predicate = Some(at_positions(&filter(types)?, &position));
        Ok(())
    }
}

/// The predicate with its columns at other positions.
fn at_positions(predicate: &Predicate, position: &impl Fn(usize) -> usize) -> Predicate {
    let parts = |parts: &[Predicate]| parts.iter().map(|part| at_positions(part, position)).collect();
    match predicate {
        Predicate::Constant(holds) => Predicate::Constant(*holds),
        Predicate::Range { column, low, high } => {
            Predicate::Range { column: position(*column), low: *low, high: *high }
        }
        Predicate::Compare { column, comparison, value } => {
            Predicate::Compare { column: position(*column), comparison: *comparison, value: value.clone() }
        }
        Predicate::IsNull { column } => Predicate::IsNull { column: position(*column) },
        Predicate::And(all) => Predicate::And(parts(all)),
        Predicate::Or(any) => Predicate::Or(parts(any)),
        Predicate::Not(part) => Predicate::Not(Box::new(at_positions(part, position))),
    }
}

impl Scanner for ProjectedScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Self { scanner, condition } = self;
        let mut selecting = Selecting { condition, rows: 0, sink };
        let Some(mut scanned) = scanner.scan(split, &mut selecting)? else { return Ok(None) };
        let rows = selecting.rows;
        scanned.skipped_rows += scanned.rows - rows;
        scanned.rows = rows;
        Ok(Some(scanned))
    }

    fn finish(&mut self, _: &mut dyn Sink) -> Result<()> {
        // Nothing is kept back: there are no sums.
        Ok(())
    }
}

/// Hands over the rows for which the condition is true.
struct Selecting<'s, 'a> {
    condition: &'s mut Condition<'a>,
    rows: u64,
    sink: &'s mut dyn Sink,
}

impl Sink for Selecting<'_, '_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        self.condition.resolve(schema)?;
        self.sink.schema(&Arc::new(self.condition.of.project(schema)?.0))
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let truths = self.condition.predicate.as_ref().map(|predicate| truth::evaluate(predicate, batch));
        let wanted = truths.map(|truths| (0..batch.rows).filter(|&row| truths[row] == TRUE).collect());
        self.take(batch, wanted)
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        let truths = truth::evaluate(&self.condition.tested[conjunct], batch);
        for (word, truths) in rows.iter_mut().zip(truths.chunks(64)) {
            let met = truths.iter().enumerate().map(|(bit, &truth)| u64::from(truth == TRUE) << bit);
            *word &= met.fold(0, |met, bit| met | bit);
        }
        Ok(count(Level::best(), rows))
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        let is_set = |rows: &[u64], row: usize| rows[row / 64] >> (row % 64) & 1 == 1;
        self.take(batch, rows.map(|rows| (0..batch.rows).filter(|&row| is_set(rows, row)).collect()))
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("nobody asked for summaries")
    }
}

impl Selecting<'_, '_> {
    /// Hands over the columns that are shown of the wanted rows; `None` is all of them.
    fn take(&mut self, batch: &Batch<'_>, wanted: Option<Vec<usize>>) -> Result<()> {
        let columns = &batch.columns[..self.condition.shown];
        let Some(wanted) = wanted.filter(|wanted| wanted.len() < batch.rows) else {
            self.rows += batch.rows as u64;
            return self.sink.batch(&Batch { rows: batch.rows, columns });
        };
        self.rows += wanted.len() as u64;
        if wanted.is_empty() {
            return Ok(());
        }
        let taken: Vec<_> = columns.iter().map(|column| Taken::of(column, &wanted)).collect();
        let columns: Vec<_> = taken.iter().zip(columns).map(|(taken, column)| taken.lend(column)).collect();
        self.sink.batch(&Batch { rows: wanted.len(), columns: &columns })
    }
}

#[cfg(test)]
mod tests;
