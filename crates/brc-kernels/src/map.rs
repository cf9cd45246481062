//! Files as memory: for encodings whose bytes can be used where they lie.

use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::ops::Range;

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

    /// Some bytes of the file, if it has them. They are brought into memory together, for less than one page after the
    /// other costs when it is first touched; and what cannot be read by then is an error, where Linux (5.14) can tell, and
    /// not a signal.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::UnexpectedEof`] if the file has become shorter than it was.
    pub fn load(&self, range: Range<usize>) -> io::Result<Option<&[u8]>> {
        let bytes = self.bytes().get(range.clone());
        #[cfg(target_os = "linux")]
        if let (Some(mapping), Some(1..)) = (&self.0, bytes.map(<[u8]>::len)) {
            /// What the system says of pages that it cannot bring into memory.
            const BAD_ADDRESS: i32 = 14;
            match mapping.advise_range(memmap2::Advice::PopulateRead, range.start, range.len()) {
                Err(error) if error.raw_os_error() == Some(BAD_ADDRESS) => {
                    let reason = "a part of the file cannot be read, or is not there any more";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
                }
                // Linux before 5.14 does not know this: there each page comes when it is touched.
                Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(error),
                _ => {}
            }
        }
        Ok(bytes)
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

    #[test]
    fn a_range_is_loaded_if_the_file_has_it() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..20_000u32).map(|byte| byte as u8).collect();
        io::Write::write_all(&mut file, &bytes).unwrap();
        let mapping = Mapping::of(&file).unwrap();
        for range in [0..0, 0..1, 5..20_000, 4096..8192, 20_000..20_000] {
            assert_eq!(mapping.load(range.clone()).unwrap(), Some(&bytes[range]));
        }
        assert_eq!(mapping.load(0..20_001).unwrap(), None);
        assert_eq!(mapping.load(30_000..30_001).unwrap(), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn bytes_that_are_gone_are_an_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(20_000).unwrap();
        let mapping = Mapping::of(&file).unwrap();
        file.set_len(0).unwrap();
        // Without the call there would be a signal at the first touch.
        assert_eq!(mapping.load(0..20_000).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
