//! The error of decoders for bytes that no encoder wrote.

/// Why bytes cannot be decoded. The caller adds the file and the location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

impl From<&'static str> for Malformed {
    fn from(reason: &'static str) -> Self {
        Self(reason)
    }
}

/// The result of decoding.
pub(crate) type Result<T> = std::result::Result<T, Malformed>;

/// Takes `count` bytes off the front.
pub(crate) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(CUT_OFF)?;
    *bytes = rest;
    Ok(taken)
}

/// Takes `N` bytes off the front.
pub(crate) fn take_array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk().ok_or(CUT_OFF)?;
    *bytes = rest;
    Ok(*taken)
}

/// Checks that no bytes are left.
pub(crate) fn finish(bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() { Ok(()) } else { Err(Malformed("there are more bytes than its values need")) }
}

const CUT_OFF: Malformed = Malformed("it is cut off");
