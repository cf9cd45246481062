//! The columns of a table whose rows name them.
//!
//! A column exists if any row has its key; it is null in rows without it. So columns, like types, are final only when
//! all rows were read. Both are inferred optimistically: a table begins with the columns of its first rows; further
//! keys and values widen it for all later scans.
//!
//! A column has a number, which identifies it in scanners, and a position in the schema, which follows the order of
//! first rows. Another split may turn out to have an earlier row with a key, so positions may change with each version
//! of the [`Types`]; numbers do not.

use super::sample::Found;
use crate::csv::Inference;
use crate::text::BadRow;
use brc_core::{Error, Field, LogicalType, Result, RowFault, Schema, UnsupportedColumn};
use brc_text::infer::Seen;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The maximum number of inferred columns. If each object had different keys, nulls would fill the memory.
const MAX_COLUMNS: usize = 1 << 16;

/// The first position of a key: the byte at which the row starts, and the index among the members of the row.
pub(super) type Position = (u64, u32);

/// The columns of a table, shared by its scanners.
pub(super) struct Columns {
    /// The schema, if given.
    given: Option<Schema>,
    /// The columns whose types are set, if the others are inferred.
    typed: Vec<Field>,
    /// The number of columns of the first rows.
    sampled: usize,
    known: RwLock<ColumnsState>,
    /// The demands of the values on the column types, shared with the other files of the table.
    inference: Inference,
}

struct ColumnsState {
    columns: Vec<Key>,
    numbers: HashMap<String, usize>,
    types: Arc<Types>,
}

struct Key {
    name: String,
    first: Position,
    has_nulls: bool,
}

/// The columns as currently known.
pub(super) struct Types {
    /// The version of the inference.
    version: u64,
    /// By number.
    pub(super) columns: Vec<Column>,
    pub(super) names: Vec<String>,
    numbers: HashMap<String, usize>,
    pub(super) schema: Arc<Schema>,
    /// The number of each column of the schema.
    pub(super) order: Vec<usize>,
}

/// A column, as a scanner reads it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    /// `None` if there are only lists or objects: such a column is unsupported.
    pub(super) logical_type: Option<LogicalType>,
    pub(super) nullable: bool,
    /// The demands of its values so far, if the type is inferred.
    pub(super) seen: Option<Seen>,
    /// Whether values are checked even if they are not read.
    pub(super) checks_unread: bool,
    /// Whether values other than strings are strings here, with their text.
    pub(super) takes_any: bool,
    /// Its position in the schema.
    pub(super) position: Option<usize>,
}

/// What a scanner learned about a column from some rows.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct ColumnEvidence {
    pub(super) seen: Option<Seen>,
    pub(super) has_nulls: bool,
    /// The first position of the key in these rows; not needed for sampled columns.
    pub(super) first: Option<Position>,
}

impl Column {
    /// A column of which nothing is known.
    const UNKNOWN: Self =
        Self { logical_type: None, nullable: true, seen: None, checks_unread: false, takes_any: false, position: None };

    /// A column whose type is set.
    fn set(field: &Field, position: usize) -> Self {
        let Field { logical_type, nullable, .. } = *field;
        let (logical_type, position) = (Some(logical_type), Some(position));
        Self { logical_type, nullable, checks_unread: true, takes_any: true, position, ..Self::UNKNOWN }
    }
}

impl ColumnEvidence {
    /// What is known of a column that no row has, after `before` others.
    pub(super) fn missing(before: u32) -> Self {
        Self { seen: None, has_nulls: true, first: Some((0, before)) }
    }
}

impl Columns {
    /// The columns of a given schema.
    pub(super) fn given(schema: Schema, checks_unread: bool) -> Self {
        let key = |field: &Field| Key { name: field.name.clone(), first: (0, 0), has_nulls: field.nullable };
        let columns: Vec<Key> = schema.fields().iter().map(key).collect();
        let column = |(position, field): (usize, &Field)| Column {
            checks_unread,
            takes_any: false,
            ..Column::set(field, position)
        };
        let numbers = numbers(&columns);
        let types = Arc::new(Types {
            version: 0,
            numbers: numbers.clone(),
            names: columns.iter().map(|key| key.name.clone()).collect(),
            columns: schema.fields().iter().enumerate().map(column).collect(),
            order: (0..columns.len()).collect(),
            schema: Arc::new(schema.clone()),
        });
        Self {
            given: Some(schema),
            typed: Vec::new(),
            sampled: columns.len(),
            known: RwLock::new(ColumnsState { columns, numbers, types }),
            inference: Inference::default(),
        }
    }

    /// The columns of the first rows. Those of the `typed` ones come first and have their types, even if no row has
    /// them.
    ///
    /// # Errors
    /// If none is supported.
    pub(super) fn inferred(path: &Path, found: Found, typed: &[Field], inference: Inference) -> Result<Self> {
        let has_rows = found.has_rows;
        let mut columns = Vec::with_capacity(found.columns.len());
        let is_missing = |field: &&Field| !found.columns.iter().any(|(name, _)| *name == field.name);
        let missing = typed.iter().filter(is_missing).map(|field| (field.name.clone(), ColumnEvidence::missing(0)));
        for (name, learned) in missing.collect::<Vec<_>>().into_iter().chain(found.columns) {
            inference.learn(&name, learned.seen.unwrap_or(Seen::NOTHING));
            columns.push(Key { name, first: learned.first.unwrap_or_default(), has_nulls: learned.has_nulls });
        }
        let numbers = numbers(&columns);
        let types = Types::inferred(&columns, &numbers, typed, &inference);
        let types = types.ok_or_else(|| nothing_to_read(path, &columns, has_rows))?;
        let sampled = columns.len();
        let known = RwLock::new(ColumnsState { columns, numbers, types: Arc::new(types) });
        Ok(Self { given: None, typed: typed.to_vec(), sampled, known, inference })
    }

    pub(super) fn is_inferred(&self) -> bool {
        self.given.is_none()
    }

    /// Whether a column was not sampled, so that its first row may not be known yet.
    pub(super) fn is_late(&self, number: usize) -> bool {
        number >= self.sampled
    }

    /// The columns as currently known.
    pub(super) fn types(&self) -> Arc<Types> {
        let types = Arc::clone(&self.known.read().types);
        if !self.is_inferred() || types.version == self.inference.version() {
            return types;
        }
        let mut known = self.known.write();
        if let Some(types) = Types::inferred(&known.columns, &known.numbers, &self.typed, &self.inference) {
            known.types = Arc::new(types);
        }
        Arc::clone(&known.types)
    }

    /// Whether the type of a column of the table is not known yet.
    pub(super) fn is_untyped(&self, position: usize) -> bool {
        let types = self.types();
        let key = types.order.get(position).and_then(|&number| types.columns.get(number));
        key.and_then(|column| column.seen).is_some_and(Seen::is_untyped)
    }

    /// Gives a type to a column of the table without values ([`brc_core::Table::assume`]).
    pub(super) fn assume(&self, position: usize, logical_type: Option<LogicalType>) -> bool {
        let types = self.types();
        let key = types.order.get(position).and_then(|&number| types.names.get(number));
        self.is_inferred() && key.is_some_and(|key| self.inference.assume(key, logical_type))
    }

    /// Merges what some rows revealed. The first entries of `learned` are the columns by number, `others` are new ones.
    ///
    /// # Errors
    /// If there are too many columns now.
    pub(super) fn learn(&self, learned: &[ColumnEvidence], others: Vec<(String, ColumnEvidence)>) -> Result<()> {
        let mut known = self.known.write();
        let ColumnsState { columns, numbers, .. } = &mut *known;
        let mut is_new = false;
        for (key, learned) in columns.iter_mut().zip(learned) {
            is_new |= key.join(learned);
            self.inference.learn(&key.name, learned.seen.unwrap_or(Seen::NOTHING));
        }
        for (name, learned) in others {
            self.inference.learn(&name, learned.seen.unwrap_or(Seen::NOTHING));
            match numbers.get(&name) {
                Some(&number) => is_new |= columns[number].join(&learned),
                None if columns.len() >= MAX_COLUMNS => {
                    let reason = format!("the rows have more than {MAX_COLUMNS} different keys, too many for a table");
                    return Err(Error::Usage(reason));
                }
                None => {
                    numbers.insert(name.clone(), columns.len());
                    let first = learned.first.unwrap_or_default();
                    // Earlier rows lack it.
                    columns.push(Key { name, first, has_nulls: true });
                    is_new = true;
                }
            }
        }
        if is_new {
            self.inference.touch();
        }
        Ok(())
    }
}

impl Key {
    /// Returns whether anything changed.
    fn join(&mut self, learned: &ColumnEvidence) -> bool {
        let first = learned.first.map_or(self.first, |first| first.min(self.first));
        let has_nulls = self.has_nulls || learned.has_nulls;
        let is_new = (first, has_nulls) != (self.first, self.has_nulls);
        (self.first, self.has_nulls) = (first, has_nulls);
        is_new
    }
}

fn numbers(columns: &[Key]) -> HashMap<String, usize> {
    columns.iter().enumerate().map(|(number, key)| (key.name.clone(), number)).collect()
}

impl Types {
    /// The types of these columns; `None` if none is supported.
    fn inferred(
        columns: &[Key],
        numbers: &HashMap<String, usize>,
        typed: &[Field],
        inference: &Inference,
    ) -> Option<Self> {
        let version = inference.version();
        let set = |number: usize| typed.iter().position(|field| field.name == columns[number].name);
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|&number| (set(number).unwrap_or(usize::MAX), columns[number].first));
        let (mut fields, mut unsupported_columns, mut read) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = vec![Column::UNKNOWN; columns.len()];
        for number in order {
            let (key, column) = (&columns[number], &mut known[number]);
            if let Some(field) = set(number).map(|at| &typed[at]) {
                *column = Column::set(field, fields.len());
                fields.push(field.clone());
                read.push(number);
                continue;
            }
            let seen = inference.of(&key.name);
            column.seen = Some(seen);
            if seen.is_nested() {
                unsupported_columns
                    .push(UnsupportedColumn { name: key.name.clone(), kind: "a list or an object".to_owned() });
                continue;
            }
            let logical_type = seen.logical_type(false).unwrap_or(LogicalType::String);
            column.logical_type = Some(logical_type);
            column.position = Some(fields.len());
            fields.push(Field { name: field_name(&key.name, number, columns), logical_type, nullable: true });
            read.push(number);
        }
        let schema = Schema::new(fields).ok()?;
        // A table of the One Billion Row Challenge keeps its exact schema in any encoding.
        let is_one_brc =
            typed.is_empty() && schema.is_like(&Schema::one_brc()) && columns.iter().all(|key| !key.has_nulls);
        let schema = if is_one_brc { Schema::one_brc() } else { schema };
        known.iter_mut().filter(|column| column.seen.is_some()).for_each(|column| column.nullable = !is_one_brc);
        Some(Self {
            version,
            numbers: numbers.clone(),
            names: columns.iter().map(|key| key.name.clone()).collect(),
            columns: known,
            schema: Arc::new(schema.without(unsupported_columns)),
            order: read,
        })
    }

    /// A malformed row with an error in a column, by number.
    pub(super) fn bad(&self, number: usize, fault: RowFault) -> BadRow {
        BadRow { column: self.columns[number].position, fault }
    }

    /// The number of the column with that key.
    pub(super) fn number(&self, key: &str) -> Option<usize> {
        self.numbers.get(key).copied()
    }
}

/// The name of a column. Only an empty key needs a generated one.
fn field_name(key: &str, number: usize, columns: &[Key]) -> String {
    if !key.is_empty() {
        return key.to_owned();
    }
    let mut name = format!("column_{}", number + 1);
    while columns.iter().any(|other| other.name == name) {
        name.push('_');
    }
    name
}

fn nothing_to_read(path: &Path, columns: &[Key], has_rows: bool) -> Error {
    let reason = match columns {
        [] => {
            let reason = match has_rows {
                true => "its rows have no keys to infer columns from; set them with --schema",
                false => "has no rows to infer columns from; set them with --schema",
            };
            return Error::NoColumns { path: path.to_owned(), reason, has_rows };
        }
        [one] => format!("its only column '{}' is a list or an object, which brc does not read", one.name),
        _ => format!("all {} columns are lists or objects, which brc does not read", columns.len()),
    };
    Error::unsupported(path, reason)
}
