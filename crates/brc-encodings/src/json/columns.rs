//! The columns of a table whose rows name them.
//!
//! A column is there from the first row on that has its key; before that, and in rows that lack it, it is null. So the columns are
//! known for certain only when all rows were read, as types are. Both are learned optimistically: a table begins with
//! what its first rows have; a key or a value that this does not hold widens it for all scans that follow.
//!
//! A column has a number, by which scanners know it, and a place in the schema, in the order of first rows. Another split
//! may turn out to have had a key earlier, so places may change with each version of the [`Types`]; numbers do not.

use crate::csv::Inference;
use crate::text::BadRow;
use brc_core::{Error, Field, LeftOut, LogicalType, Result, RowFault, Schema};
use brc_text::infer::Seen;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

/// The most columns that are inferred. Objects with other keys each would fill the memory with nulls.
const MAX_COLUMNS: usize = 1 << 16;

/// Where a key stands first: the byte at which the row starts, and the place among the members of the row.
pub(super) type Position = (u64, u32);

/// The columns of a table, shared by its scanners.
pub(super) struct Columns {
    /// The schema, if it was given.
    given: Option<Schema>,
    /// How many columns the first rows have.
    sampled: usize,
    known: RwLock<Known>,
    /// What the values of the columns demand, shared with the other files of the same table.
    inference: Inference,
}

struct Known {
    columns: Vec<Key>,
    numbers: HashMap<String, usize>,
    types: Arc<Types>,
}

struct Key {
    name: String,
    first: Position,
    has_nulls: bool,
}

/// What the columns are by now.
pub(super) struct Types {
    /// That of the inference.
    version: u64,
    /// By number.
    pub(super) columns: Vec<Column>,
    pub(super) names: Vec<String>,
    numbers: HashMap<String, usize>,
    pub(super) schema: Arc<Schema>,
    /// The number of each column of the schema.
    pub(super) order: Vec<usize>,
}

/// A column, as a scanner has to read it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    /// `None` if there are only lists or objects: such a column is left out.
    pub(super) logical_type: Option<LogicalType>,
    pub(super) nullable: bool,
    /// What its values demand so far, if the type is inferred.
    pub(super) seen: Option<Seen>,
    /// Its place in the schema.
    pub(super) place: Option<usize>,
}

/// What a scanner has learned from some rows.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Learned {
    pub(super) seen: Option<Seen>,
    pub(super) has_nulls: bool,
    /// Where the key stands first among these rows; not needed for the first columns.
    pub(super) first: Option<Position>,
}

impl Columns {
    /// Those of a schema.
    pub(super) fn given(schema: Schema) -> Self {
        let key = |field: &Field| Key { name: field.name.clone(), first: (0, 0), has_nulls: field.nullable };
        let columns: Vec<Key> = schema.fields().iter().map(key).collect();
        let column = |(place, field): (usize, &Field)| Column {
            logical_type: Some(field.logical_type),
            nullable: field.nullable,
            seen: None,
            place: Some(place),
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
            sampled: columns.len(),
            known: RwLock::new(Known { columns, numbers, types }),
            inference: Inference::default(),
        }
    }

    /// Those of some first rows.
    ///
    /// # Errors
    /// If there is none that can be read.
    pub(super) fn inferred(path: &Path, found: Vec<(String, Learned)>, inference: Inference) -> Result<Self> {
        let mut columns = Vec::with_capacity(found.len());
        for (name, learned) in found {
            inference.learn(&name, learned.seen.unwrap_or(Seen::NOTHING));
            columns.push(Key { name, first: learned.first.unwrap_or_default(), has_nulls: learned.has_nulls });
        }
        let numbers = numbers(&columns);
        let types = Types::inferred(&columns, &numbers, &inference).ok_or_else(|| nothing_to_read(path, &columns))?;
        let sampled = columns.len();
        let known = RwLock::new(Known { columns, numbers, types: Arc::new(types) });
        Ok(Self { given: None, sampled, known, inference })
    }

    pub(super) fn is_inferred(&self) -> bool {
        self.given.is_none()
    }

    /// Whether a column is not among those of the first rows, so that its first row may still have to be found.
    pub(super) fn is_late(&self, number: usize) -> bool {
        number >= self.sampled
    }

    /// The columns as they are known by now.
    pub(super) fn types(&self) -> Arc<Types> {
        let types = Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner).types);
        if !self.is_inferred() || types.version == self.inference.version() {
            return types;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(types) = Types::inferred(&known.columns, &known.numbers, &self.inference) {
            known.types = Arc::new(types);
        }
        Arc::clone(&known.types)
    }

    /// Joins what some rows have with what was known. The first of `learned` are the columns by their numbers, `others` those
    /// that were not known.
    ///
    /// # Errors
    /// If there are too many columns by now.
    pub(super) fn learn(&self, learned: &[Learned], others: Vec<(String, Learned)>) -> Result<()> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let Known { columns, numbers, .. } = &mut *known;
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
                    // Rows before the first one lack it.
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
    /// Returns whether something changed.
    fn join(&mut self, learned: &Learned) -> bool {
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
    /// Those of columns of which this is known; `None` if none of them can be read.
    fn inferred(columns: &[Key], numbers: &HashMap<String, usize>, inference: &Inference) -> Option<Self> {
        let version = inference.version();
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|&number| columns[number].first);
        let (mut fields, mut left_out, mut read) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = vec![Column { logical_type: None, nullable: true, seen: None, place: None }; columns.len()];
        for number in order {
            let (key, column) = (&columns[number], &mut known[number]);
            let seen = inference.of(&key.name);
            column.seen = Some(seen);
            if seen.is_nested() {
                left_out.push(LeftOut { name: key.name.clone(), kind: "a list or an object".to_owned() });
                continue;
            }
            let logical_type = seen.logical_type(false).unwrap_or(LogicalType::String);
            column.logical_type = Some(logical_type);
            column.place = Some(fields.len());
            fields.push(Field { name: field_name(&key.name, number, columns), logical_type, nullable: true });
            read.push(number);
        }
        let schema = Schema::new(fields).ok()?;
        // A table of the One Billion Row Challenge stays one in any encoding.
        let is_one_brc = schema.is_like(&Schema::one_brc()) && columns.iter().all(|key| !key.has_nulls);
        let schema = if is_one_brc { Schema::one_brc() } else { schema };
        known.iter_mut().for_each(|column| column.nullable = !is_one_brc);
        Some(Self {
            version,
            numbers: numbers.clone(),
            names: columns.iter().map(|key| key.name.clone()).collect(),
            columns: known,
            schema: Arc::new(schema.without(left_out)),
            order: read,
        })
    }

    /// A row with a fault in the column of that number.
    pub(super) fn bad(&self, number: usize, fault: RowFault) -> BadRow {
        BadRow { column: self.columns[number].place, fault }
    }

    /// The number of the column with that key.
    pub(super) fn number(&self, key: &str) -> Option<usize> {
        self.numbers.get(key).copied()
    }
}

/// The name of a column. Only one without a name needs another.
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

fn nothing_to_read(path: &Path, columns: &[Key]) -> Error {
    let reason = match columns {
        [] => "has no rows to infer columns from; set them with --schema".to_owned(),
        [one] => format!("its only column '{}' is a list or an object, which brc does not read", one.name),
        _ => format!("all {} columns are lists or objects, which brc does not read", columns.len()),
    };
    Error::unsupported(path, reason)
}
