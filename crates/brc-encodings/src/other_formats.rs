//! File formats that brc does not read, recognised by their first bytes, so that the error can name them. Unsupported
//! compressions are recognised earlier ([`brc_compress::unsupported`]).

use brc_core::{Error, Result};
use brc_text::BYTE_ORDER_MARK;
use std::ffi::OsStr;
use std::path::Path;

/// A format: the offset of its magic in bytes, the magic, and its name.
type Format = (usize, &'static [u8], &'static str);

const FORMATS: &[Format] = &[
    (0, b"SQLite format 3\0", "an SQLite database"),
    (8, b"DUCK", "a DuckDB database"),
    (0, b"ORC", "ORC"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5"),
    (0, b"CDF\x01", "NetCDF"),
    (0, b"<stata_dta>", "Stata"),
    (0, b"$FL2", "SPSS"),
    (0, b"RDX3\n", "R data"),
    (0, b"X\n\0\0\0", "R data"),
    (0, b"\x93NUMPY", "NumPy"),
    (0, b"\x80\x04\x95", "a Python pickle"),
    (257, b"ustar", "a tar archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
];

/// The starts of texts that are no tables, in lower case.
const MARKUP: &[(&[u8], &str)] = &[
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "XML"),
    (b"<table", "a web page"),
    (b"%pdf-", "PDF"),
    (b"{\\rtf", "rich text"),
];

/// A format that other tools convert.
struct Convertible {
    /// Its name, as in [`FORMATS`].
    name: &'static str,
    /// The extension of its files, without the dot.
    extension: &'static str,
    /// How to convert its files to a format that brc reads.
    read: &'static str,
    /// How to convert files that brc writes to this format.
    write: &'static str,
}

const CONVERTIBLE: &[Convertible] = &[
    Convertible {
        name: "ORC",
        extension: "orc",
        read: "convert it to Parquet, as with pyarrow: python3 -c \"import pyarrow.orc as o, pyarrow.parquet as p; \
               p.write_table(o.read_table('in.orc'), 'out.parquet')\"",
        write: "write Parquet, and convert that, as with pyarrow: python3 -c \"import pyarrow.orc as o, \
                pyarrow.parquet as p; o.write_table(p.read_table('in.parquet'), 'out.orc')\"",
    },
    Convertible {
        name: "a tar archive",
        extension: "tar",
        read: "extract a file of it: tar -xOf in.tar NAME | brc query - …",
        write: "write a file, and put that in an archive with tar",
    },
];

/// The reason why a file with these first bytes is not read and what to do instead, if it is known.
pub(crate) fn refusal(prefix: &[u8]) -> Option<String> {
    let name = name(prefix)?;
    let format = CONVERTIBLE.iter().find(|format| format.name == name)?;
    Some(format!("{name} is not supported; {}", format.read))
}

/// Rejects an output name that promises a format which brc does not write.
///
/// # Errors
/// [`Error::Usage`] if it does, with what to do instead.
pub fn refuse_other_format(path: &Path) -> Result<()> {
    match convertible(path) {
        Some(Convertible { name, write, .. }) => {
            Err(Error::Usage(format!("{}: {name} is not supported; {write}", path.display())))
        }
        None => Ok(()),
    }
}

/// The name of an unsupported format by the extension of a path.
pub(crate) fn by_extension(path: &Path) -> Option<&'static str> {
    convertible(path).map(|format| format.name)
}

fn convertible(path: &Path) -> Option<&'static Convertible> {
    let extension = path.extension().and_then(OsStr::to_str)?;
    CONVERTIBLE.iter().find(|format| format.extension.eq_ignore_ascii_case(extension))
}

/// The name of an unsupported format by its first bytes.
pub(crate) fn name(prefix: &[u8]) -> Option<&'static str> {
    let is_there = |(at, mark, _): &&Format| prefix.get(*at..).is_some_and(|rest| rest.starts_with(mark));
    FORMATS.iter().find(is_there).map(|(.., name)| *name).or_else(|| markup(prefix))
}

/// The name of a text that is no table, by its first bytes.
pub(crate) fn markup(prefix: &[u8]) -> Option<&'static str> {
    let text = prefix.strip_prefix(BYTE_ORDER_MARK).unwrap_or(prefix).trim_ascii_start();
    let begins = |mark: &[u8]| text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    MARKUP.iter().find(|(mark, _)| begins(mark)).map(|(_, name)| *name)
}
