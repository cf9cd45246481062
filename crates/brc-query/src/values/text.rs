//! Strings that expressions compute, within a limit of memory.

use crate::runtime::memory::Allowance;
use crate::values::error::EvalError;
use brc_core::{LogicalType, StringBuffer, Value};

/// Appends the string that `write` appends.
pub(crate) fn push_text(
    strings: &mut StringBuffer,
    allowance: Allowance,
    write: impl FnOnce(&mut Text<'_>),
) -> Result<(), EvalError> {
    let mut fault = None;
    strings.push_with(|bytes| {
        let mut text = Text { bytes, allowance, fault: None };
        write(&mut text);
        fault = text.fault;
    })?;
    fault.map_or(Ok(()), Err)
}

/// The strings of a batch while another is written. What would be too much is not appended, nor is anything after
/// it.
pub(crate) struct Text<'a> {
    bytes: &'a mut Vec<u8>,
    allowance: Allowance,
    fault: Option<EvalError>,
}

impl Text<'_> {
    pub(crate) fn extend_from_slice(&mut self, more: &[u8]) {
        if self.has_room_for(more.len()) {
            self.bytes.extend_from_slice(more);
        }
    }

    /// Appends bytes that are as many as `length`.
    pub(crate) fn extend(&mut self, length: usize, more: impl Iterator<Item = u8>) {
        if self.has_room_for(length) {
            self.bytes.extend(more);
        }
    }

    /// Appends the text form of a value.
    pub(crate) fn push_value(&mut self, value: Value<'_>, logical_type: LogicalType) {
        match value {
            Value::Bytes(bytes) => self.extend_from_slice(bytes),
            // Numbers have few digits.
            Value::Integer(_) | Value::Float(_) if self.has_room_for(0) => value.write(logical_type, self.bytes),
            Value::Integer(_) | Value::Float(_) => {}
        }
    }

    /// Whether this many bytes may be appended; room is made for them.
    pub(crate) fn has_room_for(&mut self, more: usize) -> bool {
        let (length, capacity) = (self.bytes.len(), self.bytes.capacity());
        if self.fault.is_some() || more <= capacity - length {
            return self.fault.is_none();
        }
        let needed = length.saturating_add(more);
        let grown = needed.max(capacity.saturating_mul(2)).min(MAX_BYTES);
        if needed > MAX_BYTES {
            self.fault = Some(EvalError::TooLarge(None));
        } else if !self.allowance.allows(capacity, grown) {
            self.fault = Some(EvalError::TooLarge(Some(self.allowance.0)));
        } else {
            self.bytes.reserve_exact(grown - length);
        }
        self.fault.is_none()
    }
}

/// Offsets of strings have 31 bits.
const MAX_BYTES: usize = i32::MAX as usize;
