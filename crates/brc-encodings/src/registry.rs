//! The list of all encodings, and how one of them is chosen.

use crate::encoding::Encoding;
use crate::input::Input;
use crate::{arrow, buren, csv, parquet};
use brc_core::{Error, Result};
use std::path::Path;

/// All encodings. The first that recognises a file's first bytes is taken, so the text encoding, which takes whatever
/// has no NUL byte, comes last.
pub static ENCODINGS: &[&dyn Encoding] = &[&buren::Buren, &parquet::Parquet, &arrow::Arrow, &csv::Csv];

/// The encoding of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Encoding> {
    ENCODINGS.iter().copied().find(|encoding| encoding.name() == name)
}

/// The encoding that a path's extension means.
#[must_use]
pub fn by_extension(path: &Path) -> Option<&'static dyn Encoding> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    ENCODINGS.iter().copied().find(|encoding| encoding.extensions().contains(&extension.as_str()))
}

/// The encoding that the first bytes of an input tell.
///
/// # Errors
/// [`Error::Unsupported`] if no encoding recognises them, [`Error::Corrupt`] or [`Error::Unsupported`] if the input's
/// extension means another one than they do: then a guess would be wrong for somebody.
pub fn for_input(input: &Input) -> Result<&'static dyn Encoding> {
    let named = by_extension(&input.path);
    let seen = ENCODINGS.iter().copied().find(|encoding| encoding.sniff(&input.prefix));
    match (named, seen) {
        // Damaged first bytes, or none: the encoding itself knows best what is wrong with them.
        (Some(named), _) if input.prefix.is_empty() => Ok(named),
        (Some(named), None) => Ok(named),
        (Some(named), Some(seen)) if named.name() != seen.name() => {
            // Text can be anything, but what is named as something else and is only text is not what it should be.
            let damaged = seen.name() == csv::Csv.name();
            let (named, seen) = (named.name(), seen.name());
            let reason = format!("is named as {named} but looks like {seen} (--from {seen} reads it as that)");
            Err(if damaged {
                Error::corrupt(&input.path, "first bytes", reason)
            } else {
                Error::unsupported(&input.path, reason)
            })
        }
        (_, Some(seen)) => Ok(seen),
        (None, None) => {
            let names: Vec<_> = ENCODINGS.iter().map(|encoding| encoding.name()).collect();
            Err(Error::unsupported(&input.path, format!("is of no known encoding ({})", names.join(", "))))
        }
    }
}
