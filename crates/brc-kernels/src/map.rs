//! Files as memory: for encodings whose bytes can be used where they lie.

use memmap2::Mmap;
use std::fs::File;
use std::io;

/// A file mapped into memory, for reading.
#[derive(Debug)]
pub struct Mapping(Option<Mmap>);

impl Mapping {
    /// Maps a whole file.
    ///
    /// If another program cuts the file off while it is mapped, the system ends this process with a signal; if it writes
    /// into it, the bytes change. Whoever reads them must not rely on having seen them before.
    ///
    /// # Errors
    /// The system's.
    pub fn of(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self(None));
        }
        // SAFETY: the mapping is private to this value and only read. That others leave the file alone is beyond what a
        // program can see to; readers take every byte for untrusted input and read none twice for a decision.
        Ok(Self(Some(unsafe { Mmap::map(file)? })))
    }

    /// The bytes of the file. They start at an address that is a multiple of the page size.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_the_file() {
        let this = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/src/map.rs"));
        let mapping = Mapping::of(&this.unwrap()).unwrap();
        assert_eq!(mapping.bytes(), include_bytes!("map.rs"));
        assert_eq!(mapping.bytes().as_ptr().align_offset(8), 0);
    }
}
