//! Which values will be written differently than they were read.
//!
//! A decimal column has one number of decimals, so zeros at the end come and go, and nobody minds. Other changes are
//! counted, and the first one is kept to be shown.

use crate::infer::NullTokenSet;
use brc_core::LogicalType;

/// How values of a column differ from the text that they were read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// How many are written in another way, apart from zeros at the end and the `T` of a timestamp.
    pub altered: u64,
    /// The first of these: as it was written, and as it will be.
    pub example: Option<(Vec<u8>, Vec<u8>)>,
    /// How many are null because they are words for missing ones.
    pub nulled: u64,
    /// These words.
    pub null_tokens: NullTokenSet,
}

/// Whether two texts of a value differ in more than zeros at the end and a `T` between date and time.
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

/// Whether the text of a value that is written in another way than it stood there differs by more than zeros at the end.
pub(super) fn differs_if_altered(logical_type: LogicalType, has_form: bool) -> fn(&[u8]) -> bool {
    match logical_type {
        _ if has_form => |_| true,
        LogicalType::Uuid | LogicalType::Float32 => |_| true,
        LogicalType::Timestamp { zone: true, .. } => |text| text.last() != Some(&b'Z'),
        _ => |_| false,
    }
}
