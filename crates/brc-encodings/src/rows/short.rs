//! Bytes that are copied at a fixed length, however many of them are content.

/// A few bytes.
#[derive(Clone, Copy)]
pub(crate) struct Short {
    bytes: [u8; Short::MAX_BYTES],
    length: usize,
}

impl Short {
    /// The maximum bytes of a number in any encoding.
    pub(super) const MAX_BYTES: usize = 32;

    /// These bytes.
    ///
    /// # Panics
    /// If there are more than 32.
    #[inline]
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut padded = [0; Self::MAX_BYTES];
        padded[..bytes.len()].copy_from_slice(bytes);
        Self { bytes: padded, length: bytes.len() }
    }

    /// The bytes that `write` writes to the start of a 32-byte buffer.
    #[inline]
    pub(crate) fn of(write: impl FnOnce(&mut &mut [u8])) -> Self {
        let mut bytes = [0; Self::MAX_BYTES];
        let mut rest = &mut bytes[..];
        write(&mut rest);
        let length = Self::MAX_BYTES - rest.len();
        Self { bytes, length }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    #[inline]
    pub(super) fn write(&self, room: &mut [u8]) -> Option<usize> {
        copy_start::<{ Self::MAX_BYTES }>(&self.bytes, room)?;
        Some(self.length)
    }
}

/// Copies the first `N` bytes to the start of `room`; `None` if either has fewer.
#[inline]
pub(super) fn copy_start<const N: usize>(bytes: &[u8], room: &mut [u8]) -> Option<()> {
    *room.first_chunk_mut::<N>()? = *bytes.first_chunk::<N>()?;
    Some(())
}
