//! One type for a column whose type differs between tables.
//!
//! Files that were converted one by one have types inferred one by one: `2` is an integer in one file, `2.5` a decimal
//! in the next. The common type is the one that inference finds for all these values together, so a union of converted
//! files answers as the union of their texts does. It holds every value exactly. Statistics tell which values there
//! are; without them, the common type must hold all values of each type.

use brc_core::{LogicalType, Table, ValueBounds};
use brc_text::infer::Seen;

/// The signed integer types, the narrowest first.
const SIGNED: [LogicalType; 4] = [LogicalType::Int8, LogicalType::Int16, LogicalType::Int32, LogicalType::Int64];

/// A column of a table: its type, and what its values require of a type; `None` if all are null.
pub(super) type TypedColumn = (LogicalType, Option<Seen>);

/// The type and values of a table's column.
pub(super) fn typed_column(table: &dyn Table, column: usize, logical_type: LogicalType) -> TypedColumn {
    if table.is_untyped(column) {
        return (logical_type, None);
    }
    let mut bounds: Option<(i128, i128)> = None;
    for known in table.statistics_by_split(column) {
        match known.values {
            ValueBounds::None => {}
            ValueBounds::Numbers { min, max } => {
                bounds = Some(bounds.map_or((min, max), |(least, most)| (least.min(min), most.max(max))));
            }
            ValueBounds::Unknown | ValueBounds::Strings { .. } => {
                return (logical_type, Some(Seen::of_type(logical_type, None)));
            }
        }
    }
    (logical_type, bounds.map(|bounds| Seen::of_type(logical_type, Some(bounds))))
}

/// The type that holds the values of all these columns exactly; `None` if there is none.
pub(super) fn common_type(columns: &[TypedColumn]) -> Option<LogicalType> {
    let (first, _) = columns.first()?;
    let with_values = || columns.iter().filter_map(|(logical_type, seen)| seen.map(|seen| (*logical_type, seen)));
    let types = || with_values().map(|(logical_type, _)| logical_type);
    let Some(only) = types().next() else { return Some(*first) };
    if types().all(|logical_type| logical_type == only) {
        return Some(only);
    }
    if types().all(|logical_type| SIGNED.contains(&logical_type)) {
        return SIGNED.into_iter().rev().find(|widest| types().any(|logical_type| logical_type == *widest));
    }
    let seen = with_values().map(|(_, seen)| seen).fold(Seen::NOTHING, Seen::join);
    seen.logical_type(false).filter(|common| *common != LogicalType::String)
}

/// The positions of two columns, in order, because of which these columns have no common type.
pub(super) fn conflict(columns: &[TypedColumn]) -> (usize, usize) {
    let second = (1..columns.len()).find(|&last| common_type(&columns[..=last]).is_none()).unwrap_or_default();
    let is_other = |&at: &usize| common_type(&[columns[at], columns[second]]).is_none();
    // Each pair may have a common type, but not all columns together.
    ((0..second).find(is_other).unwrap_or_default(), second)
}
