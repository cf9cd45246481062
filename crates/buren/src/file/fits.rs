//! Checks that a chunk is valid for its column; used by the writer before writing a footer and by the reader before
//! trusting one.

use super::bounds::Bounds;
use super::footer::{Chunk, Layout};
use brc_core::{Field, PhysicalType};

/// Checks a chunk against the type of its column.
///
/// # Errors
/// Why it is invalid.
pub(super) fn check(chunk: &Chunk, field: &Field) -> Result<(), String> {
    if chunk.layout.physical() != field.logical_type.physical() {
        return Err(format!("its values are not of type {}", field.logical_type));
    }
    if chunk.nulls > 0 && !field.nullable {
        return Err(format!("it has {} nulls, but is not nullable", chunk.nulls));
    }
    let Some(bounds) = &chunk.bounds else { return Ok(()) };
    let limits = match chunk.layout {
        Layout::Integers | Layout::InRuns => {
            field.logical_type.bounds().map(|(min, max)| (min.max(i64::MIN.into()), max.min(i64::MAX.into())))
        }
        Layout::Wide => field.logical_type.bounds(),
        Layout::Floats => Some((i64::MIN.into(), i64::MAX.into())),
        Layout::Strings | Layout::Codes | Layout::FileCodes => None,
    };
    match (bounds, field.logical_type.physical(), limits) {
        (Bounds::Numbers { min, max }, PhysicalType::Integers | PhysicalType::Floats, Some((least, most))) => {
            if *min < least || *max > most {
                return Err(format!("a value is out of range for type {}", field.logical_type));
            }
            Ok(())
        }
        (Bounds::Strings { .. }, PhysicalType::Bytes, _) => Ok(()),
        _ => Err("its bounds are of another type".to_owned()),
    }
}
