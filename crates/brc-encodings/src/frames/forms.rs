//! Integers whose first byte determines their form, as in MessagePack and CBOR.
//!
//! The forms are hard to predict, so branching on them would dominate the cost. All forms are decoded by the same
//! steps, with parameters from a table.

/// How to extract an integer from eight bytes that begin with its first byte, read as big-endian.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerForm {
    /// Its size in bytes; 0 for an item that is not an integer, or has more than eight bytes.
    bytes: u8,
    /// The left shift that brings its first bit to the front.
    left: u8,
    /// The right shift, after the left one, that brings its last bit to the end.
    right: u8,
    /// The bits to keep after sign extension.
    mask: u64,
    /// The bits to invert at the end.
    inverted: u64,
}

impl IntegerForm {
    pub(crate) const NONE: Self = Self { bytes: 0, left: 0, right: 0, mask: 0, inverted: 0 };

    /// A signed number in the last `bits` bits of the first byte.
    pub(crate) const fn short(bits: u8) -> Self {
        Self { bytes: 1, left: 8 - bits, right: 64 - bits, mask: u64::MAX, inverted: 0 }
    }

    /// A signed number in up to four bytes after the first one.
    pub(crate) const fn long(bytes: u8) -> Self {
        Self { bytes: 1 + bytes, left: 8, right: 64 - 8 * bytes, mask: u64::MAX, inverted: 0 }
    }

    /// The same bits as an unsigned number.
    pub(crate) const fn unsigned(self) -> Self {
        Self { mask: u64::MAX >> self.right, ..self }
    }

    /// The same bits as the number -1 - n.
    pub(crate) const fn negative(self) -> Self {
        Self { inverted: u64::MAX, ..self.unsigned() }
    }
}

/// Takes an integer off the front of `bytes`. Returns `None`, and takes nothing, if its form is not in the table or
/// there are fewer than eight bytes.
#[inline]
pub(crate) fn take_integer(forms: &[IntegerForm; 256], bytes: &mut &[u8]) -> Option<i64> {
    let word = u64::from_be_bytes(*bytes.first_chunk()?);
    let form = &forms[(word >> 56) as usize];
    if form.bytes == 0 {
        return None;
    }
    *bytes = bytes.get(form.bytes.into()..)?;
    let signed = (word << (form.left & 63)) as i64 >> (form.right & 63);
    Some((signed as u64 & form.mask ^ form.inverted) as i64)
}
