//! The list of all encodings, and how to select one.

use crate::compressed::CompressedWriter;
use crate::encoding::{CreateOptions, Encoding};
use crate::frames::Framed;
use crate::input::Input;
use crate::other_formats;
use crate::text::is_binary;
use crate::{bincode, buren, cbor, csv, json, msgpack, ppm, zip};
use brc_compress::read_only::{self, ReadOnly};
use brc_compress::{Compression, unsupported};
use brc_core::{BatchWriter, Error, Result, Schema};
use std::ffi::OsStr;
use std::path::Path;

/// All encodings of this build. The first one that recognises a file's first bytes is used, so csv, which accepts
/// anything without a NUL byte, comes last.
pub static ENCODINGS: &[&dyn Encoding] = &[
    &buren::Buren,
    #[cfg(feature = "parquet")]
    &crate::parquet::Parquet,
    #[cfg(feature = "arrow")]
    &crate::arrow::Arrow,
    #[cfg(feature = "avro")]
    &crate::avro::Avro,
    #[cfg(feature = "capnp")]
    &Framed(&crate::capnp::CAPNP),
    #[cfg(feature = "capnp")]
    &Framed(&crate::capnp::CAPNP_PACKED),
    #[cfg(feature = "protobuf")]
    &Framed(&crate::protobuf::Protobuf),
    &Framed(&bincode::Bincode),
    &Framed(&msgpack::MsgPack),
    &Framed(&cbor::Cbor),
    &json::Json,
    #[cfg(feature = "xlsx")]
    &crate::xlsx::Xlsx,
    &ppm::Ppm,
    &csv::Csv,
];

/// The encoding with the given name or alias.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Encoding> {
    ENCODINGS.iter().copied().find(|encoding| encoding.name() == name || encoding.aliases().contains(&name))
}

/// The text encoding: the usual input, and the reference for sizes.
#[must_use]
pub fn text() -> &'static dyn Encoding {
    &csv::Csv
}

/// The encoding of a path's extension, ignoring the extension of a compression.
#[must_use]
pub fn by_extension(path: &Path) -> Option<&'static dyn Encoding> {
    let extension = extension(path)?;
    ENCODINGS.iter().copied().find(|encoding| encoding.extensions().contains(&extension.as_str()))
}

/// The delimiter that a path's extension implies for written text: a tab for `.tsv`.
#[must_use]
pub fn delimiter_by_extension(path: &Path) -> Option<u8> {
    (extension(path)? == "tsv").then_some(b'\t')
}

/// The extension in lower case, without the extension of a compression. In a URL it precedes the query.
fn extension(path: &Path) -> Option<String> {
    let text = path.to_string_lossy();
    let path = match text.split_once("://") {
        Some(_) => Path::new(text.split(['?', '#']).next().unwrap_or_default()),
        None => path,
    };
    let is_compressed = |extension: &str| {
        brc_compress::by_extension(extension).is_some()
            || read_only::by_extension(extension).is_some()
            || zip::is_extension(extension)
    };
    let inner =
        path.file_stem().map(Path::new).filter(|_| path.extension().and_then(OsStr::to_str).is_some_and(is_compressed));
    Some(inner.unwrap_or(path).extension()?.to_str()?.to_ascii_lowercase())
}

/// The compression of a path's last extension.
#[must_use]
pub fn compression_by_extension(path: &Path) -> Option<&'static dyn Compression> {
    brc_compress::by_extension(path.extension()?.to_str()?)
}

/// Checks that the last extension of a path does not name a different compression than the one applied to the
/// whole file, if any.
///
/// # Errors
/// [`Error::Usage`] if it does: such a file would be rejected when it is read.
pub fn check_compression_name(path: &Path, applied: Option<&dyn Compression>) -> Result<()> {
    let Some(extension) = path.extension().and_then(|extension| extension.to_str()) else { return Ok(()) };
    if let Some(ReadOnly { name, .. }) = read_only::by_extension(extension) {
        let reason = format!("the extension means {name}, which brc only reads");
        return Err(Error::Usage(format!("{}: {reason}", path.display())));
    }
    let supported = brc_compress::by_extension(extension).map(Compression::name);
    let named = supported.or_else(|| Some(unsupported::by_extension(extension)?.name));
    let applied = applied.map(Compression::name);
    let Some(named) = named.filter(|named| applied != Some(*named)) else { return Ok(()) };
    let instead = applied.map_or("but the output would not be compressed".to_owned(), |applied| {
        format!("but --compression is {applied}")
    });
    Err(Error::Usage(format!("{}: the extension means {named}, {instead}", path.display())))
}

/// Checks that the name of a text file to write promises neither a compression nor another format.
///
/// # Errors
/// [`Error::Usage`] if it does: such a file would be rejected when it is read.
pub fn check_text_name(path: &Path) -> Result<()> {
    check_compression_name(path, None)?;
    let encoding = by_extension(path).filter(|encoding| encoding.name() != text().name());
    let Some(named) = encoding.map(Encoding::name).or_else(|| other_formats::by_extension(path)) else { return Ok(()) };
    let name = path.with_extension("csv");
    let (path, name) = (path.display(), name.display());
    let convert = match encoding.is_some_and(|encoding| !encoding.is_read_only()) {
        true => format!(", then brc convert {name} {path}"),
        false => String::new(),
    };
    let reason = format!("the extension means {named}, but the output would be text: name it {name}{convert}");
    Err(Error::Usage(format!("{path}: {reason}")))
}

/// The names of the compressions that an encoding supports.
#[must_use]
pub fn compressions_of(encoding: &dyn Encoding) -> Vec<&'static str> {
    let supported = |compression: &&&'static dyn Compression| encoding.can_compress(**compression).is_ok();
    let names = brc_compress::COMPRESSIONS.iter().filter(supported).map(|compression| compression.name());
    names.filter(|name| *name != "none").collect()
}

/// A writer of a table with the given schema, compressed as the options say: by the encoding or as a whole file.
///
/// # Errors
/// If the encoding does not support the schema or the compression, or the options do not fit it.
pub fn writer(encoding: &dyn Encoding, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
    let refused = |reason: String| format!("{}: {reason}", encoding.name());
    encoding.supports(schema).map_err(|reason| Error::type_mismatch(refused(reason)))?;
    let supported = |reason| Error::Usage(format!("{reason}; it supports {}", compressions_of(encoding).join(", ")));
    encoding.can_compress(options.compression.compression).map_err(supported)?;
    let writer = encoding.create(schema, options)?;
    Ok(if encoding.compresses_blocks() { writer } else { CompressedWriter::wrap(writer, options.compression) })
}

/// The encoding of an input, by its first bytes.
///
/// # Errors
/// [`Error::Unsupported`] if no encoding recognises them, or if the input's extension names a different encoding: a
/// guess could be wrong.
pub fn for_input(input: &Input) -> Result<&'static dyn Encoding> {
    let named = by_extension(&input.path);
    let seen = ENCODINGS.iter().copied().find(|encoding| encoding.sniff(&input.prefix));
    if !named.is_some_and(Encoding::is_text) && other_formats::markup(&input.prefix).is_some() {
        return Err(unknown(input, None));
    }
    match (named, seen) {
        // Few bytes match too much, and damaged ones nothing: the named encoding gives the best error.
        (Some(named), _) if input.prefix.len() < MIN_PREFIX_BYTES => Ok(named),
        (Some(named), None) if named.is_text() && is_binary(&input.prefix) => Err(unknown(input, Some(named))),
        (Some(named), None) => Ok(named),
        // Rows without a header may look like text by chance.
        (Some(named), Some(seen)) if named.may_lack_header() && seen.is_text() => Ok(named),
        // Any text looks like csv, including text of another encoding that begins with a malformed row.
        (Some(named), Some(seen)) if named.is_text() && seen.name() == csv::Csv.name() => Ok(named),
        (Some(named), Some(seen)) if named.name() != seen.name() => Err(mismatch(input, named, seen)),
        (_, Some(seen)) => Ok(seen),
        (None, None) => Err(unknown(input, None)),
    }
}

/// The encoding that the user names for an input, or else that of its first bytes. What no encoding recognises may be a
/// damaged file of the named one.
///
/// # Errors
/// [`Error::Unsupported`] if its first bytes are those of another encoding than the named one; as for [`for_input`].
pub fn for_named_input(input: &Input, named: Option<&'static dyn Encoding>) -> Result<&'static dyn Encoding> {
    let Some(named) = named else { return for_input(input) };
    let is_certain = !named.is_text() && !named.may_lack_header() && input.prefix.len() >= MIN_PREFIX_BYTES;
    if !is_certain || named.sniff(&input.prefix) {
        return Ok(named);
    }
    let Some(seen) = ENCODINGS.iter().find(|encoding| encoding.sniff(&input.prefix)) else { return Ok(named) };
    let (name, looks) = (named.name(), seen.name());
    let reason = format!("is no {name} file, but looks like {looks} (--from {looks} reads it as that)");
    Err(Error::unsupported(&input.path, reason))
}

/// Whether a file of these first bytes is of an encoding that [reads it by its parts](Encoding::reads_parts).
pub(crate) fn reads_parts(prefix: &[u8]) -> bool {
    ENCODINGS.iter().any(|encoding| encoding.reads_parts() && encoding.sniff(prefix))
}

/// The minimum number of first bytes that identify an encoding: with fewer, several magics match.
const MIN_PREFIX_BYTES: usize = 4;

fn unknown(input: &Input, named: Option<&dyn Encoding>) -> Error {
    if let Some(refusal) = other_formats::refusal(&input.prefix) {
        return Error::unsupported(&input.path, refusal);
    }
    let names: Vec<_> = ENCODINGS.iter().map(|encoding| encoding.name()).collect();
    let looks = other_formats::name(&input.prefix).map(|name| format!(" (looks like {name})")).unwrap_or_default();
    let hint = match named.map(Encoding::name) {
        Some(named) => format!("its extension says {named}, but it is not text; --from {named} reads it anyway"),
        None => format!("if it is one of these, name it with --from: {}", names.join(", ")),
    };
    Error::unsupported(&input.path, format!("unrecognised file format{looks}; {hint}"))
}

fn mismatch(input: &Input, named: &dyn Encoding, seen: &dyn Encoding) -> Error {
    let (name, looks) = (named.name(), seen.name());
    // The first row of a text may look like another encoding.
    let text = if named.is_text() { format!(", --from {name} as text") } else { String::new() };
    let hint = format!("--from {looks} reads it as that{text}");
    Error::unsupported(&input.path, format!("its extension says {name}, but it looks like {looks} ({hint})"))
}
