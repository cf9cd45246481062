//! What a file's first lines tell of its columns.

use super::number;
use super::row::{Kind, is_space, members};
use crate::input::PREFIX_BYTES;
use crate::text::{BYTE_ORDER_MARK, strip_carriage_return};
use brc_core::{DataType, Error, Field, Schema};
use std::path::Path;

/// Whether some first bytes begin an object with a key or an empty one.
pub(super) fn is_json(prefix: &[u8]) -> bool {
    let mut bytes = text(prefix).iter().filter(|byte| !is_space(**byte));
    bytes.next() == Some(&b'{') && matches!(bytes.next(), Some(b'"' | b'}'))
}

/// Why a line tells no columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Untold {
    /// It is longer than what there is of the file.
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
                "{file}: the first line is longer than {} KiB, so its columns are not guessed; name them with --schema",
                PREFIX_BYTES >> 10
            )),
            Self::Strange { column, found } => {
                let reason = format!("column '{column}' has {found}; columns are of strings or numbers");
                Error::unsupported(path, reason)
            }
            Self::NoObject => Error::unsupported(path, "the first line is no JSON object"),
        }
    }
}

/// The columns of the first line that is a row of any table, with as many decimals as any of the first lines needs. If
/// there is no object, the table of the One Billion Row Challenge, so that what is wrong with the rows can be told.
///
/// # Errors
/// Why no table has such rows.
pub(super) fn schema(prefix: &[u8]) -> Result<Schema, Untold> {
    if prefix.len() >= PREFIX_BYTES && !prefix.contains(&b'\n') {
        return Err(Untold::TooLong);
    }
    let lines = || text(prefix).split(|&byte| byte == b'\n').map(strip_carriage_return);
    let Some(mut schema) = lines().find_map(|line| Schema::new(columns(line).ok()?).ok()) else {
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
            Kind::Number => DataType::Decimal { scale: scale(number::decimals(raw.get())) },
            Kind::String => DataType::String,
            other => {
                strange.get_or_insert((column, other.name()));
                DataType::String
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
    Ok(names.into_iter().zip(types).map(|(name, data_type)| Field { name, data_type }).collect())
}

fn scale(decimals: u64) -> u8 {
    u8::try_from(decimals).unwrap_or(u8::MAX).min(DataType::MAX_SCALE)
}

/// The schema with the larger scale wherever a row has one.
fn widened(schema: &Schema, columns: &[Field]) -> Schema {
    let widen = |field: &Field| {
        let found = columns.iter().find(|column| column.name == field.name).map(|column| column.data_type);
        let data_type = match (field.data_type, found) {
            (DataType::Decimal { scale }, Some(DataType::Decimal { scale: more })) => {
                DataType::Decimal { scale: scale.max(more) }
            }
            (data_type, _) => data_type,
        };
        Field { name: field.name.clone(), data_type }
    };
    let fields = schema.fields().iter().map(widen).collect();
    Schema::new(fields).unwrap_or_else(|_| schema.clone())
}
