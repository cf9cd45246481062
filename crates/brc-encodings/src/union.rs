//! Several files as one table: their rows in sequence, with one schema.
//!
//! Splits are numbered across all files. The number of splits of a stream is not known in advance, so the next file
//! begins after the last split requested of it; the few between its end and that one are empty. Each file has its own
//! dictionaries, so a scanner translates their codes into those of a shared one. Where files have different types for a
//! column, it converts the values to a type that holds all of them exactly.

mod codes;
mod columns;
mod common_type;
mod constants;
mod conversion;
mod numbering;
mod pushdown;
mod scanner;
mod translation;

use brc_core::{
    ColumnChanges, ColumnStatistics, DoubtfulText, Error, LogicalType, Progress, Result, ScanOptions, Scanner, Schema,
    SkippedLines, Split, Table, TableFile, TextReason, ValueBounds, ValueForm, WantedText, current_schema, read_rows,
};
use columns::{Origin, combine, gives_type, origins};
pub use constants::ConstantColumn;
use conversion::Conversion;
use numbering::Numbering;
use scanner::UnionScanner;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

/// How files become one table.
#[derive(Debug, Clone, Default)]
pub struct UnionOptions {
    /// Whether columns are matched by name in any order, and null in files that lack them. Otherwise all files must
    /// have the same columns in the same order.
    pub by_name: bool,
    /// Columns after those of the tables, each with one value per table.
    pub constants: Vec<ConstantColumn>,
    /// The name of a last column with the path of each row's file.
    pub file_name: Option<String>,
}

/// Several tables, mostly files, as one.
pub struct Union {
    path: PathBuf,
    tables: Vec<Box<dyn Table>>,
    /// All constant columns, including the file name.
    constants: Vec<ConstantColumn>,
    options: UnionOptions,
    /// Whether some table has inferred types.
    is_inferred: bool,
    schema: Schema,
    /// For each table, the origins of the columns as they were known when the tables were opened.
    origins: Vec<Vec<Origin>>,
    numbering: Numbering,
}

impl Union {
    /// One table with all rows of `tables`, in order.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no table, or the columns differ; [`Error::TypeMismatch`] if no type holds all values
    /// of a column: it names two files and the column. If that may be because of inferred types, the errors of reading
    /// all rows.
    pub fn new(tables: Vec<Box<dyn Table>>, options: UnionOptions) -> Result<Self> {
        let [first, others @ ..] = &tables[..] else { return Err(Error::Usage("no file is given".to_owned())) };
        let path = match others {
            [] => first.path().to_owned(),
            [other] => format!("{} and {}", first.path().display(), other.path().display()).into(),
            _ => format!("{} and {} more files", first.path().display(), others.len()).into(),
        };
        if let Some(column) = options.constants.iter().find(|column| column.tables() != tables.len()) {
            let (values, name) = (column.tables(), &column.field().name);
            return Err(Error::Usage(format!("{values} values of '{name}' for {} tables", tables.len())));
        }
        let schema = combined_of_all(&tables, &options)?;
        let mut constants = options.constants.clone();
        if let Some(name) = &options.file_name {
            let paths = tables.iter().map(|table| Some(table.path().as_os_str().as_encoded_bytes()));
            constants.push(ConstantColumn::strings(name, paths));
        }
        let is_inferred = tables.iter().any(|table| table.inferred().is_some());
        let (origins, numbering) = (Vec::new(), Numbering::default());
        let mut union = Self { path, constants, options, is_inferred, schema, origins, numbering, tables };
        union.origins = union.origins(&union.schema);
        Ok(union)
    }

    /// The names of the columns that some file lacks, which are null there.
    pub fn filled(&self) -> impl Iterator<Item = &str> {
        let missing = |column: &usize| self.origins.iter().any(|origins| matches!(origins[*column], Origin::Missing));
        (0..self.schema.fields().len()).filter(missing).map(|column| self.schema.fields()[column].name.as_str())
    }

    /// The columns as currently known, where types are inferred.
    ///
    /// # Errors
    /// [`Error::TypeMismatch`] if the files no longer agree.
    fn current(&self) -> Result<Option<Schema>> {
        if self.is_inferred { combined(&self.tables, &self.options).map(Some) } else { Ok(None) }
    }

    /// For each table, the origins of the union's current columns, `schema`.
    fn origins(&self, schema: &Schema) -> Vec<Vec<Origin>> {
        let tables = self.tables.iter().enumerate();
        tables.map(|(at, table)| self.origins_in(at, schema, &current_schema(table.as_ref()))).collect()
    }

    /// The origins of the union's current columns, `schema`, in a table that has its own columns.
    fn origins_in(&self, table: usize, schema: &Schema, own_schema: &Schema) -> Vec<Origin> {
        let inferred = self.tables[table].inferred();
        // Statistics prove that a stored column whose type does not convert has only nulls.
        let has_nulls_only = |column| inferred.is_none() || self.tables[table].is_untyped(column);
        let conversion = |column, own, common| match &inferred {
            // The rows have values of wider types. They will be read again.
            Some(current) if **current != *own_schema => None,
            _ => Conversion::between(own, common).or(has_nulls_only(column).then_some(Conversion::Nulls)),
        };
        origins(schema, own_schema, &self.constants, conversion)
    }

    /// That a column is text because its values are written in one way in some files, and differently in others.
    fn several_forms(&self, column: usize) -> Result<Option<TextReason>> {
        let mut first: Option<(ValueForm, &Path)> = None;
        for (table, origins) in self.tables.iter().zip(&self.origins) {
            let Some(Origin::Column { own, .. }) = origins.get(column) else { continue };
            let Some(found) = table.value_form(*own)? else { continue };
            let Some((known, path)) = &first else {
                first = Some((found, table.path()));
                continue;
            };
            if known.form != found.form {
                let (first, other) = (known.example.clone(), found.example);
                let files = Some([*path, table.path()].map(Path::to_owned));
                return Ok(Some(TextReason::SeveralForms { first, other, files }));
            }
        }
        Ok(None)
    }

    /// The error that a value of a table does not fit the type of the union's column.
    fn misfit(&self, table: usize, column: usize) -> Error {
        let name = &self.schema.fields()[column].name;
        Error::corrupt(self.tables[table].path(), format!("column '{name}'"), "a value is outside of its bounds")
    }

    /// The statistics over all rows of a table of a column with the given origin, before any row is read.
    fn statistics_of_all(&self, table: usize, origin: Origin) -> ColumnStatistics<'_> {
        match origin {
            Origin::Column { .. } => ColumnStatistics::UNKNOWN,
            Origin::Constant(constant) => self.constants[constant].of(table).statistics(),
            Origin::Missing => ColumnStatistics { values: ValueBounds::None, nulls: true },
        }
    }

    /// Records the end of a stream; `None` if it is the last table.
    fn end(&self, table: usize) -> Option<()> {
        (table + 1 < self.tables.len()).then(|| self.numbering.ended(table))
    }
}

/// The columns of all tables. If inferred types disagree, or a column without values so far has another type in the
/// union, all rows are read, and the final types are compared.
fn combined_of_all(tables: &[Box<dyn Table>], options: &UnionOptions) -> Result<Schema> {
    let combined_now = combined(tables, options);
    let inferred = || tables.iter().filter(|table| table.inferred().is_some());
    let is_final = match &combined_now {
        Ok(schema) => !inferred().any(|table| gives_type(schema, table.as_ref())),
        Err(error) => !matches!(error, Error::TypeMismatch { .. }),
    };
    if is_final || inferred().next().is_none() {
        return combined_now;
    }
    let threads = available_parallelism().map_or(1, usize::from);
    inferred().try_for_each(|table| read_rows(table.as_ref(), threads, &Progress::default()))?;
    combined(tables, options)
}

/// The columns of all tables, as currently known.
fn combined(tables: &[Box<dyn Table>], options: &UnionOptions) -> Result<Schema> {
    let schemas: Vec<_> = tables.iter().map(|table| current_schema(table.as_ref())).collect();
    let tables: Vec<_> = tables.iter().map(AsRef::as_ref).zip(schemas.iter().map(AsRef::as_ref)).collect();
    combine(&tables, options)
}

impl Table for Union {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inferred(&self) -> Option<Arc<Schema>> {
        // The scanner reports files that disagree.
        self.current().unwrap_or_else(|_| Some(self.schema.clone())).map(Arc::new)
    }

    fn is_untyped(&self, column: usize) -> bool {
        self.tables.iter().zip(&self.origins).any(|(table, origins)| match origins.get(column) {
            Some(Origin::Column { own, .. }) => table.is_untyped(*own),
            Some(Origin::Missing | Origin::Constant(_)) | None => false,
        })
    }

    fn assume(&self, column: usize, logical_type: Option<LogicalType>) -> bool {
        let assume = |logical_type| {
            self.tables.iter().zip(&self.origins).all(|(table, origins)| match origins.get(column) {
                Some(Origin::Column { own, .. }) => table.assume(*own, logical_type),
                Some(Origin::Missing) => true,
                Some(Origin::Constant(_)) | None => false,
            })
        };
        // It is possible in all tables or in none.
        assume(None) && assume(logical_type)
    }

    fn why_text(&self, column: usize) -> Result<Option<TextReason>> {
        for (table, origins) in self.tables.iter().zip(&self.origins) {
            if let Some(Origin::Column { own, .. }) = origins.get(column)
                && let Some(mut reason) = table.why_text(*own)?
            {
                if let TextReason::Others { file, .. } = &mut reason {
                    *file = Some(table.path().to_owned());
                }
                return Ok(Some(reason));
            }
        }
        self.several_forms(column)
    }

    fn doubtful_text(&self) -> Result<Vec<DoubtfulText>> {
        let mut found = BTreeMap::new();
        for (table, origins) in self.tables.iter().zip(&self.origins) {
            for doubtful in table.doubtful_text()? {
                let is_it = |origin: &Origin| matches!(origin, Origin::Column { own, .. } if *own == doubtful.column);
                let column = origins.iter().position(is_it);
                found.extend(column.map(|column| (column, DoubtfulText { column, ..doubtful })));
            }
        }
        Ok(found.into_values().collect())
    }

    fn read_nulls_as_text(&self, wanted: &[WantedText]) -> bool {
        self.tables.iter().fold(false, |any, table| any | table.read_nulls_as_text(wanted))
    }

    fn may_gain_columns(&self) -> bool {
        self.tables.iter().any(|table| table.may_gain_columns())
    }

    fn changes(&self) -> Vec<ColumnChanges> {
        let mut sums = vec![ColumnChanges::default(); self.schema.fields().len()];
        for (table, origins) in self.tables.iter().zip(&self.origins) {
            let changes = table.changes();
            for (sum, origin) in sums.iter_mut().zip(origins) {
                if let Origin::Column { own, .. } = origin
                    && let Some(changes) = changes.get(*own)
                {
                    *sum += changes;
                }
            }
        }
        sums
    }

    fn reads_by_column(&self) -> bool {
        self.tables.iter().all(|table| table.reads_by_column())
    }

    fn rows(&self) -> Option<u64> {
        self.tables.iter().map(|table| table.rows()).sum()
    }

    fn bytes(&self) -> Option<u64> {
        self.tables.iter().map(|table| table.bytes()).sum()
    }

    fn is_read_once(&self) -> bool {
        self.tables.iter().any(|table| table.is_read_once())
    }

    fn split(&self, index: u64) -> Option<Split> {
        let location = self.numbering.find(index, &self.tables)?;
        let Split { start, end, .. } = location.split;
        Some(Split { index, start, end })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        let location = self.numbering.find(split, &self.tables)?;
        self.tables[location.table].rows_of(location.split.index)
    }

    fn statistics(&self, split: u64, column: usize) -> ColumnStatistics<'_> {
        let location = self.numbering.find(split, &self.tables);
        let origin = location.and_then(|location| Some((location, *self.origins[location.table].get(column)?)));
        match origin {
            // The type of the union may have changed since the origins were known.
            Some((_, Origin::Column { .. })) if self.is_inferred => ColumnStatistics::UNKNOWN,
            Some((location, Origin::Column { own, conversion })) => {
                let known = self.tables[location.table].statistics(location.split.index, own);
                match (conversion, known.values) {
                    (None | Some(Conversion::Unchanged), _) | (_, ValueBounds::None) => known,
                    _ => ColumnStatistics { values: ValueBounds::Unknown, ..known },
                }
            }
            Some((location, origin)) => self.statistics_of_all(location.table, origin),
            None => ColumnStatistics::UNKNOWN,
        }
    }

    fn skipped_lines(&self) -> SkippedLines {
        let mut skipped = SkippedLines::default();
        for table in &self.tables {
            skipped += table.skipped_lines();
        }
        skipped
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for table in &self.tables {
            let path = table.path().display();
            notes.extend(table.notes().iter().map(|note| format!("{path}: {note}")));
        }
        notes
    }

    fn file_of(&self, split: u64) -> Option<TableFile<'_>> {
        let location = self.numbering.find(split, &self.tables)?;
        let table = self.tables[location.table].as_ref();
        let inner = table.file_of(location.split.index);
        let first_split = location.first_split + inner.map_or(0, |file| file.first_split);
        Some(TableFile { table: inner.map_or(table, |file| file.table), first_split })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let current = self.current()?;
        Ok(Box::new(UnionScanner::new(self, current.as_ref().unwrap_or(&self.schema), options)))
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod type_tests;
