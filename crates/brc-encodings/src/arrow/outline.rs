//! The schema of a file, and where its blocks are: what must be known before rows are read. The footer of a file has
//! both. A stream has no footer, so its messages are visited one after another.
//!
//! <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>

use super::layout;
use super::messages::value_of;
use super::stream::{PREFIX, Stream};
use super::types::{self, Columns};
use super::writer::{CHECKSUMS, MAGIC};
use crate::columnar::footer::Footer;
use crate::columnar::{self, Fault, SCALES};
use arrow_ipc::{Block, MessageHeader, MetadataVersion, Schema, root_as_footer};
use brc_core::{Error, ReadAt, Result};
use std::path::Path;

/// The outline of a file.
pub(super) struct Outline<'p> {
    pub(super) path: &'p Path,
    /// What has the schema, for messages.
    place: &'static str,
    pub(super) columns: Columns,
    /// The metadata of the table.
    pub(super) metadata: Vec<(String, String)>,
    /// What the footer says of the file; nothing in a stream.
    pub(super) about: About,
    /// The offset at which the blocks end.
    pub(super) end: u64,
    /// The record batches, in order.
    pub(super) batches: Vec<Block>,
    pub(super) dictionaries: Vec<Block>,
    /// What the user should know.
    pub(super) note: Option<String>,
}

/// The place of a file's outline.
const FOOTER: &str = "footer";

/// What the footer of a file says of it.
#[derive(Default)]
pub(super) struct About {
    /// Whether `brc` wrote the file, and its footer is intact.
    pub(super) is_own: bool,
    /// The name of the program that wrote it.
    pub(super) created_by: Option<String>,
    /// The scales and the checksums of a file of `brc`.
    pub(super) scales: Option<String>,
    pub(super) checksums: Option<String>,
}

impl<'p> Outline<'p> {
    /// Reads the footer of a file of `length` bytes.
    ///
    /// # Errors
    /// If there is none, or it is damaged or of an unknown version.
    pub(super) fn of_file(path: &'p Path, file: &dyn ReadAt, length: u64) -> Result<Self> {
        let place = FOOTER;
        let footer = Footer::read(path, file, length, MAGIC)?;
        let flat = root_as_footer(&footer.bytes);
        let flat = flat.map_err(|error| Error::corrupt(path, place, format!("malformed: {error}")))?;
        let about = |key: &str| value_of(flat.custom_metadata(), key).map(str::to_owned);
        let created_by = about(CREATED_BY);
        footer.check_writer(path, created_by.as_deref())?;
        check_version(path, flat.version())?;
        let of_own = |key: &str| if footer.is_own { about(key) } else { None };
        let (scales, checksums) = (of_own(SCALES), of_own(CHECKSUMS));
        let about = About { is_own: footer.is_own, created_by, scales, checksums };
        let batches = flat.recordBatches().into_iter().flatten().copied().collect();
        let dictionaries = flat.dictionaries().into_iter().flatten().copied().collect();
        let outline = Self::of_schema(path, place, flat.schema())?;
        Ok(Self { about, end: footer.start, batches, dictionaries, ..outline })
    }

    /// Visits the messages of a stream of `length` bytes.
    ///
    /// # Errors
    /// If it ends within a message, or has a message of an unknown kind.
    pub(super) fn of_stream(path: &'p Path, file: &dyn ReadAt, length: u64) -> Result<Self> {
        let place = "schema";
        let stream = Stream { path, file, length };
        let missing = || Error::corrupt(path, "header", "the stream has no schema");
        let (schema, block) = stream.message(place, 0)?.ok_or_else(missing)?;
        let message = layout::message(&schema).map_err(|fault| fault.at(path, place))?;
        check_version(path, message.version())?;
        let mut outline = Self { end: after(&block), ..Self::of_schema(path, place, message.header_as_schema())? };
        loop {
            let name = format!("record batch {}", outline.batches.len());
            let Some((metadata, block)) = stream.message(&name, outline.end)? else { break };
            let message = layout::message(&metadata).map_err(|fault| fault.at(path, &name))?;
            match message.header_type() {
                MessageHeader::RecordBatch => outline.batches.push(block),
                MessageHeader::DictionaryBatch => outline.dictionaries.push(block),
                other => {
                    return Err(Fault::unsupported(format!("it is a message of the kind {other:?}")).at(path, &name));
                }
            }
            outline.end = after(&block);
        }
        match length - outline.end {
            0 => outline.note = Some(CUT_OFF.to_owned()),
            1..=PREFIX => {}
            _ => return Err(Error::unsupported(path, TWO_STREAMS)),
        }
        Ok(outline)
    }

    /// The outline of a file without blocks.
    fn of_schema(path: &'p Path, place: &'static str, schema: Option<Schema<'_>>) -> Result<Self> {
        let schema = schema.ok_or_else(|| Error::corrupt(path, place, "it has no schema"))?;
        let columns = types::columns(schema).map_err(|fault| match fault {
            Fault::Corrupt(reason) => Error::corrupt(path, place, reason),
            Fault::Unsupported(reason) | Fault::UnsupportedRow(_, reason) => Error::unsupported(path, reason),
        })?;
        let pairs = schema.custom_metadata().into_iter().flatten();
        let metadata = columnar::table_metadata(pairs.filter_map(|pair| Some((pair.key()?, pair.value()))));
        let (batches, dictionaries) = (Vec::new(), Vec::new());
        Ok(Self { path, place, columns, metadata, about: About::default(), end: 0, batches, dictionaries, note: None })
    }

    /// Whether it is that of a file, not of a stream.
    pub(super) fn is_of_file(&self) -> bool {
        self.place == FOOTER
    }

    /// The error for malformed content of the footer, or of the schema message of a stream.
    pub(super) fn corrupt(&self, reason: &str) -> Error {
        Error::corrupt(self.path, self.place, reason)
    }
}

/// The metadata key of the writing program's name.
pub(super) const CREATED_BY: &str = "created_by";

/// The note for a stream without a last message.
const CUT_OFF: &str = "the stream has no end marker, so that it may have been cut off between two record batches";

/// The error for bytes after the end marker.
const TWO_STREAMS: &str = "has more bytes after the end of its arrow stream; one stream per file is read";

/// The offset after a block of a stream.
fn after(block: &Block) -> u64 {
    (block.offset() + i64::from(block.metaDataLength()) + block.bodyLength()).unsigned_abs()
}

/// Checks that the metadata have a supported version.
fn check_version(path: &Path, version: MetadataVersion) -> Result<()> {
    if version < MetadataVersion::V4 {
        return Err(Error::unsupported(path, "is of a version from before 2017"));
    }
    if version > MetadataVersion::V5 {
        // Version 1 has the number 0.
        let (found, newest) = (i32::from(version.0) + 1, MetadataVersion::V5.0 + 1);
        let reason = format!("its metadata are of version {found}; this program reads up to {newest}");
        return Err(Error::unsupported(path, reason));
    }
    Ok(())
}
