//! The encoding and compression of an output file, and the options that do not fit them.

use brc_compress::Compressor;
use brc_core::Error;
use brc_encodings::{
    ENCODINGS, Encoding, by_extension, check_compression_name, compression_by_extension, refuse_other_format,
};
use std::path::Path;

/// Refuses `--output-delimiter` for an encoding without delimiters.
pub(crate) fn refuse_delimiter(to: &dyn Encoding, given: Option<u8>) -> Result<(), Error> {
    refuse_missing(to, "--output-delimiter", given.is_some() && !to.has_delimiter(), "delimiter")
}

/// Refuses an option if it is given and the encoding does not have what it sets.
pub(crate) fn refuse_missing(to: &dyn Encoding, option: &str, is_missing: bool, what: &str) -> Result<(), Error> {
    match is_missing {
        true => Err(Error::Usage(format!("{option}: {} has no {what}", to.name()))),
        false => Ok(()),
    }
}

/// The requested encoding, or the one given by the extension of the output.
pub(crate) fn encoding_of(output: &Path, to: Option<&'static dyn Encoding>) -> Result<&'static dyn Encoding, Error> {
    let reason = match to.or_else(|| by_extension(output)) {
        Some(encoding) if !encoding.is_read_only() => return Ok(encoding),
        Some(encoding) => format!("{} can only be read, not written", encoding.name()),
        None => {
            refuse_other_format(output)?;
            "no known extension".to_owned()
        }
    };
    let writable = ENCODINGS.iter().filter(|encoding| !encoding.is_read_only());
    let names: Vec<_> = writable.map(|encoding| encoding.name()).collect();
    Err(Error::Usage(format!("{}: {reason}; name the encoding with --to {}", output.display(), names.join("|"))))
}

/// The requested compression, or the one given by the extension of the output.
pub(crate) fn target_compression(
    output: &Path,
    compression: Option<Compressor>,
    to: &dyn Encoding,
) -> Result<Compressor, Error> {
    let named = compression_by_extension(output);
    if let Some(named) = named.filter(|_| to.compresses_blocks()) {
        let (blocks, compression) = match to.can_compress(named) {
            Ok(()) => ("its blocks".to_owned(), named.name().to_owned()),
            Err(_) => {
                (format!("its blocks, but not with {}", named.name()), brc_encodings::compressions_of(to).join("|"))
            }
        };
        let instead = format!("name the file without that extension, and add --compression {compression}");
        return Err(Error::Usage(format!("{}: {} compresses {blocks}: {instead}", output.display(), to.name())));
    }
    let compressor = compression.or(named.map(Compressor::of)).unwrap_or_else(Compressor::none);
    let is_whole = !to.compresses_blocks() && !compressor.is_none();
    check_compression_name(output, is_whole.then_some(compressor.compression))?;
    Ok(compressor)
}
