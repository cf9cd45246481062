//! What a file's first lines tell of its columns.

use super::number;
use super::row::{Kind, is_space, members};
use crate::input::Input;
use crate::text::{BYTE_ORDER_MARK, LONGEST_LINE, strip_carriage_return};
use brc_core::{Error, Field, LogicalType, Result, Schema};
use std::collections::HashSet;
use std::path::Path;

/// Whether some first bytes begin an object with a key or an empty one.
pub(super) fn is_json(prefix: &[u8]) -> bool {
    let mut bytes = text(prefix).iter().filter(|byte| !is_space(**byte));
    bytes.next() == Some(&b'{') && matches!(bytes.next(), Some(b'"' | b'}'))
}

/// Why a line tells no columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Untold {
    /// It is longer than a line may be.
    TooLong,
    /// A column has a value that no column can have.
    Strange {
        /// Its name.
        column: String,
        /// What the value is.
        found: &'static str,
    },
    /// It is no object.
    NoObject,
}

impl Untold {
    pub(super) fn error(self, path: &Path) -> Error {
        let file = path.display();
        match self {
            Self::TooLong => Error::Usage(format!(
                "{file}: the first line is longer than {LONGEST_LINE} bytes, so it tells no columns; name them with \
                 --schema"
            )),
            Self::Strange { column, found } => {
                let reason = format!("column '{column}' has {found}; columns are of strings or numbers");
                Error::unsupported(path, reason)
            }
            Self::NoObject => Error::unsupported(path, "the first line is no JSON object"),
        }
    }
}

/// The first bytes of a source, of which the first line is whole unless it is too long.
pub(super) fn first_lines(input: &mut Input) -> Result<&[u8]> {
    if !input.prefix.contains(&b'\n') {
        input.extend_prefix(LONGEST_LINE + 2)?;
    }
    Ok(&input.prefix)
}

/// The columns of the first line that is a row of any table, with as many decimals as any of the first lines needs. If
/// there is no object, the table of the One Billion Row Challenge, so that what is wrong with the rows can be told.
///
/// # Errors
/// Why no table has such rows.
pub(super) fn schema(prefix: &[u8]) -> Result<Schema, Untold> {
    if prefix.len() > LONGEST_LINE && !prefix.contains(&b'\n') {
        return Err(Untold::TooLong);
    }
    let lines = || text(prefix).split(|&byte| byte == b'\n').map(strip_carriage_return);
    let of_row = || lines().find_map(|line| Schema::new(columns(line).ok()?).ok());
    // Where every row names a column twice, that is what is wrong with them, and not the other columns.
    let of_first_names = || lines().find_map(|line| Schema::new(without_repeated(columns(line).ok()?)).ok());
    let Some(mut schema) = of_row().or_else(of_first_names) else {
        let strange = lines().find_map(|line| columns(line).err().filter(|untold| *untold != Untold::NoObject));
        return strange.map_or_else(|| Ok(Schema::one_brc()), Err);
    };
    for line in lines() {
        // A line that is cut off, or not a row, tells nothing.
        if let Ok(columns) = columns(line) {
            schema = widened(&schema, &columns);
        }
    }
    Ok(schema)
}

fn text(prefix: &[u8]) -> &[u8] {
    prefix.strip_prefix(BYTE_ORDER_MARK).unwrap_or(prefix)
}

/// The columns without those of a name that another one before them has.
fn without_repeated(mut columns: Vec<Field>) -> Vec<Field> {
    let mut names = HashSet::new();
    columns.retain(|column| names.insert(column.name.clone()));
    columns
}

/// The columns that a row has by itself.
fn columns(line: &[u8]) -> Result<Vec<Field>, Untold> {
    let mut names = Vec::new();
    let mut types = Vec::new();
    let mut strange = None;
    let name = |key: &str| {
        names.push(key.to_owned());
        Ok(names.len() - 1)
    };
    let outcome = members(line, name, |column, raw| {
        types.push(match Kind::of(raw) {
            Kind::Number => LogicalType::number(scale(number::decimals(raw.get()))),
            Kind::String => LogicalType::String,
            other => {
                strange.get_or_insert((column, other.name()));
                LogicalType::String
            }
        });
        Ok(())
    });
    if outcome.is_err() {
        return Err(Untold::NoObject);
    }
    if let Some((column, found)) = strange {
        return Err(Untold::Strange { column: names.swap_remove(column), found });
    }
    Ok(names.into_iter().zip(types).map(|(name, logical_type)| Field::required(name, logical_type)).collect())
}

fn scale(decimals: u64) -> u8 {
    u8::try_from(decimals).unwrap_or(u8::MAX).min(LogicalType::MAX_PRECISION_64)
}

/// The schema with the larger scale wherever a row has one.
fn widened(schema: &Schema, columns: &[Field]) -> Schema {
    let widen = |field: &Field| {
        let found = columns.iter().find(|column| column.name == field.name).map(|column| column.logical_type);
        let logical_type = match (field.logical_type, found) {
            (own, Some(found)) if own.is_numeric() && found.is_numeric() => {
                LogicalType::number(own.scale().max(found.scale()))
            }
            (logical_type, _) => logical_type,
        };
        Field::required(field.name.clone(), logical_type)
    };
    let fields = schema.fields().iter().map(widen).collect();
    Schema::new(fields).unwrap_or_else(|_| schema.clone())
}
