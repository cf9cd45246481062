//! What a file's first lines tell of its columns.

use super::number;
use super::row::{Kind, is_space, members};
use crate::text::{BYTE_ORDER_MARK, BadRow, strip_carriage_return};
use brc_core::{DataType, Field, RowFault, Schema};

/// Whether some first bytes begin an object with a key or an empty one.
pub(super) fn is_json(prefix: &[u8]) -> bool {
    let mut bytes = text(prefix).iter().filter(|byte| !is_space(**byte));
    bytes.next() == Some(&b'{') && matches!(bytes.next(), Some(b'"' | b'}'))
}

/// The columns of the first line that is a row of any table, with as many decimals as any of the first lines needs. If
/// there is none, the table of the One Billion Row Challenge, so that what is wrong with the rows can be told.
pub(super) fn schema(prefix: &[u8]) -> Schema {
    let lines = || text(prefix).split(|&byte| byte == b'\n').map(strip_carriage_return);
    let Some(mut schema) = lines().find_map(|line| Schema::new(columns(line).ok()?).ok()) else {
        return Schema::one_brc();
    };
    for line in lines() {
        // A line that is cut off, or not a row, tells nothing.
        if let Ok(columns) = columns(line) {
            schema = widened(&schema, &columns);
        }
    }
    schema
}

fn text(prefix: &[u8]) -> &[u8] {
    prefix.strip_prefix(BYTE_ORDER_MARK).unwrap_or(prefix)
}

/// The columns that a row has by itself.
fn columns(line: &[u8]) -> Result<Vec<Field>, BadRow> {
    let mut names = Vec::new();
    let mut types = Vec::new();
    let name = |key: &str| {
        names.push(key.to_owned());
        Ok(names.len() - 1)
    };
    members(line, name, |column, raw| {
        types.push(match Kind::of(raw) {
            Kind::String => DataType::String,
            Kind::Number => DataType::Decimal { scale: scale(number::decimals(raw.get())) },
            // Which column it would be is not known.
            _ => return Err(BadRow { column: Some(column), fault: RowFault::NoObject }),
        });
        Ok(())
    })?;
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
