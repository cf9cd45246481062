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
}

/// Whether two texts of a value differ by more than trailing zeros and a `T` between date and time.
pub(super) fn differ(old: &[u8], new: &[u8]) -> bool {
    let without_zone = |text: &[u8]| text.strip_suffix(b"Z").unwrap_or(text).to_vec();
    let [mut old, new] = [old, new].map(without_zone);
    if let (Some(between @ b'T'), Some(b' ')) = (old.get_mut(10), new.get(10)) {
        *between = b' ';
    }
    let (short, long) = if old.len() < new.len() { (old, new) } else { (new, old) };
    let rest = long.strip_prefix(short.as_slice());
    rest.is_none_or(|rest| rest.iter().any(|byte| !matches!(byte, b'0' | b'.' | b',' | b':')))
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
