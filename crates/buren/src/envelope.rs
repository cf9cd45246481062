//! The outer structure of a file: header, trailer, and the checksummed footer before the trailer.

use crate::block::checksum;
use crate::trailer::{self, HEADER_BYTES, TRAILER_BYTES, Trailer};
use brc_core::{Error, ReadAt, Result};
use std::path::{Path, PathBuf};

/// How many bytes at the end of a remote file are fetched when it is opened; smaller files are fetched as a whole.
const PREFETCHED_END: u64 = 64 << 10;

/// An open file whose footer has a valid checksum but has not been parsed.
pub(crate) struct Envelope {
    pub(crate) file: Box<dyn ReadAt>,
    /// Its name, for messages.
    pub(crate) path: PathBuf,
    pub(crate) file_bytes: u64,
    pub(crate) footer_bytes: u64,
    pub(crate) footer_offset: u64,
    pub(crate) footer: Vec<capnp::Word>,
}

impl Envelope {
    pub(crate) fn open(file: Box<dyn ReadAt>, path: &Path) -> Result<Self> {
        let file_bytes = file.length().map_err(Error::io(path, "open"))?;
        let Trailer { footer_bytes, footer_checksum, .. } = read_trailer(file.as_ref(), path, file_bytes)?;
        let least = (HEADER_BYTES + TRAILER_BYTES) as u64;
        if footer_bytes % 8 != 0 || file_bytes.checked_sub(least).is_none_or(|most| footer_bytes > most) {
            let reason = format!("a footer of {footer_bytes} bytes in a file of {file_bytes}");
            return Err(Error::corrupt(path, "trailer", reason));
        }
        let footer_offset = file_bytes - TRAILER_BYTES as u64 - footer_bytes;
        let mut footer = capnp::Word::allocate_zeroed_vec((footer_bytes / 8) as usize);
        let bytes = capnp::Word::words_to_bytes_mut(&mut footer);
        file.read_exact_at(bytes, footer_offset).map_err(Error::io(path, "read"))?;
        if checksum(bytes) != footer_checksum {
            return Err(Error::corrupt(path, "footer", "the checksum does not match"));
        }
        Ok(Self { file, path: path.to_owned(), file_bytes, footer_bytes, footer_offset, footer })
    }
}

fn read_trailer(file: &dyn ReadAt, path: &Path, file_bytes: u64) -> Result<Trailer> {
    let mut header = vec![0; HEADER_BYTES.min(usize::try_from(file_bytes).unwrap_or(HEADER_BYTES))];
    // A remote file would need an extra request for the header, which holds nothing that the trailer does not.
    let reads_header = !file.is_remote() || file_bytes <= PREFETCHED_END;
    if reads_header {
        file.read_exact_at(&mut header, 0).map_err(Error::io(path, "read"))?;
    }
    let mut trailer = vec![0; TRAILER_BYTES.min(usize::try_from(file_bytes).unwrap_or(TRAILER_BYTES))];
    let offset = file_bytes - trailer.len() as u64;
    file.read_exact_at(&mut trailer, offset).map_err(Error::io(path, "read"))?;
    if reads_header { trailer::check(path, &header, &trailer) } else { trailer::check_alone(path, &trailer) }
}
