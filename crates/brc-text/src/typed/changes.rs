//! Tracks values that will be written differently than they were read.
//!
//! A decimal column has one scale, so trailing zeros are added and removed without notice. Other changes are counted,
//! and the first one is kept as an example.

use crate::infer::NullTokenSet;
use brc_core::LogicalType;

/// The differences between the values of a column and the text that they were parsed from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// The number of values that will be written differently, apart from trailing zeros and the `T` of a timestamp.
    pub altered: u64,
    /// The first of these: the text that was read, and the text that will be written.
    pub example: Option<(Vec<u8>, Vec<u8>)>,
    /// The number of values that are null because they are null tokens.
    pub nulled: u64,
    /// These tokens.
    pub null_tokens: NullTokenSet,
    /// The first string that is not UTF-8, of those that were parsed with this one or before it.
    pub not_utf8: Option<Vec<u8>>,
}

/// Whether two texts of a value differ by more than trailing zeros and a `T` between date and time.
pub(super) fn differ(old: &[u8], new: &[u8]) -> bool {
    let without_zone = |text: &[u8]| text.strip_suffix(b"Z").unwrap_or(text).to_vec();
    let [mut old, new] = [old, new].map(without_zone);
    if let (Some(between @ b'T'), Some(b' ')) = (old.get_mut(10), new.get(10)) {
        *between = b' ';
    }
    let (short, long) = if old.len() < new.len() { (old, new) } else { (new, old) };
    let is_separator = |byte: &u8| matches!(byte, b'.' | b',' | b':');
    let are_trailing = |rest: &[u8]| {
        rest.iter().all(|byte| *byte == b'0' || is_separator(byte))
            && (rest.is_empty() || long.iter().any(is_separator))
    };
    !long.strip_prefix(short.as_slice()).is_some_and(are_trailing)
}

/// A function that decides, for a text that will be written differently, whether it changes by more than trailing
/// zeros.
pub(super) fn differs_if_altered(logical_type: LogicalType, has_form: bool) -> fn(&[u8]) -> bool {
    match logical_type {
        _ if has_form => |_| true,
        LogicalType::Uuid | LogicalType::Float32 => |_| true,
        LogicalType::Timestamp { zone: true, .. } => |text| text.last() != Some(&b'Z'),
        _ => |_| false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trailing_zeros_are_no_difference() {
        for (old, new, differs) in [
            ("1.5", "1.50", false),
            ("1", "1.00", false),
            ("1,5", "1,50", false),
            ("13:05", "13:05:00", false),
            ("2024-01-31T10:00", "2024-01-31 10:00:00", false),
            ("000", "0", true),
            ("0", "00", true),
            ("007", "7", true),
            (".5", "0.5", true),
            ("1e5", "100000.0", true),
        ] {
            assert_eq!(differ(old.as_bytes(), new.as_bytes()), differs, "{old} {new}");
        }
    }
}
