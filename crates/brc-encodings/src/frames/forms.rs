//! Integers of which the first byte tells the form, as in MessagePack and CBOR.
//!
//! Which form comes next is hard to guess, so a branch for each would cost more than all the rest: here every form is read
//! by the same steps, with what differs taken from a table.

/// How an integer is read from the eight bytes that begin with its first one, in the order of significance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// How many bytes it has; 0 of what is no integer, or one of more than eight bytes.
    bytes: u8,
    /// How far its first bit is from the left.
    left: u8,
    /// How far its last bit is from the right, once the first one stands on the left.
    right: u8,
    /// The bits that remain of the number, which has been filled up with copies of its first one.
    mask: u64,
    /// The bits that are inverted in the end.
    inverted: u64,
}

impl Form {
    pub(crate) const NONE: Self = Self { bytes: 0, left: 0, right: 0, mask: 0, inverted: 0 };

    /// A signed number in the last `bits` bits of the first byte.
    pub(crate) const fn short(bits: u8) -> Self {
        Self { bytes: 1, left: 8 - bits, right: 64 - bits, mask: u64::MAX, inverted: 0 }
    }

    /// A signed number in up to four bytes behind the first one.
    pub(crate) const fn long(bytes: u8) -> Self {
        Self { bytes: 1 + bytes, left: 8, right: 64 - 8 * bytes, mask: u64::MAX, inverted: 0 }
    }

    /// The same bits as a number without sign.
    pub(crate) const fn unsigned(self) -> Self {
        Self { mask: u64::MAX >> self.right, ..self }
    }

    /// The same bits as the number -1 - n.
    pub(crate) const fn negative(self) -> Self {
        Self { inverted: u64::MAX, ..self.unsigned() }
    }
}

/// Takes an integer off the front of some bytes. `None`, and nothing taken, if it has no form of the table or there are
/// fewer than eight bytes.
#[inline]
pub(crate) fn take_integer(forms: &[Form; 256], bytes: &mut &[u8]) -> Option<i64> {
    let word = u64::from_be_bytes(*bytes.first_chunk()?);
    let form = &forms[(word >> 56) as usize];
    if form.bytes == 0 {
        return None;
    }
    *bytes = bytes.get(form.bytes.into()..)?;
    let signed = (word << (form.left & 63)) as i64 >> (form.right & 63);
    Some((signed as u64 & form.mask ^ form.inverted) as i64)
}
