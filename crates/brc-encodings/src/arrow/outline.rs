//! The schema of a file, and where its blocks are: what must be known before rows are read. The footer of a file has
//! both. A stream has no footer, so its messages are visited one after another.
//!
//! <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>

use super::layout;
use super::messages::value_of;
use super::stream::{PREFIX, Stream};
use super::writer::MAGIC;
use crate::columnar::Fault;
use crate::columnar::footer::Footer;
use arrow_ipc::{Block, MessageHeader, MetadataVersion, Schema, root_as_footer};
use brc_core::{Error, ReadAt, Result};
use std::path::Path;

/// The outline of a file.
pub(super) struct Outline<'p> {
    pub(super) path: &'p Path,
    head: Head,
    /// The offset at which the blocks end.
    pub(super) end: u64,
    /// The record batches, in order.
    pub(super) batches: Vec<Block>,
    pub(super) dictionaries: Vec<Block>,
    /// What the user should know.
    pub(super) note: Option<String>,
}

/// What has the schema.
enum Head {
    Footer(Footer),
    /// The first message of a stream.
    Message(Vec<u8>),
}

impl<'p> Outline<'p> {
    /// Reads the footer of a file of `length` bytes.
    ///
    /// # Errors
    /// If there is none, or it is damaged or of an unknown version.
    pub(super) fn of_file(path: &'p Path, file: &dyn ReadAt, length: u64) -> Result<Self> {
        let footer = Footer::read(path, file, length, MAGIC)?;
        let flat = root_as_footer(&footer.bytes).map_err(|error| in_footer(path, &format!("malformed: {error}")))?;
        footer.check_writer(path, value_of(flat.custom_metadata(), CREATED_BY))?;
        check_version(path, flat.version())?;
        let batches = flat.recordBatches().into_iter().flatten().copied().collect();
        let dictionaries = flat.dictionaries().into_iter().flatten().copied().collect();
        Ok(Self { path, end: footer.start, head: Head::Footer(footer), batches, dictionaries, note: None })
    }

    /// Visits the messages of a stream of `length` bytes.
    ///
    /// # Errors
    /// If it ends within a message, or has a message of an unknown kind.
    pub(super) fn of_stream(path: &'p Path, file: &dyn ReadAt, length: u64) -> Result<Self> {
        let stream = Stream { path, file, length };
        let missing = || Error::corrupt(path, "header", "the stream has no schema");
        let (schema, block) = stream.message("schema", 0)?.ok_or_else(missing)?;
        let message = layout::message(&schema).map_err(|fault| fault.at(path, "schema"))?;
        check_version(path, message.version())?;
        let mut outline = Self {
            path,
            end: after(&block),
            head: Head::Message(Vec::new()),
            batches: Vec::new(),
            dictionaries: Vec::new(),
            note: None,
        };
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
        outline.head = Head::Message(schema);
        Ok(outline)
    }

    /// The schema.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn schema(&self) -> Result<Schema<'_>> {
        let schema = match &self.head {
            Head::Footer(footer) => root_as_footer(&footer.bytes).ok().and_then(|footer| footer.schema()),
            Head::Message(message) => layout::message(message).ok().and_then(|message| message.header_as_schema()),
        };
        schema.ok_or_else(|| self.corrupt("it has no schema"))
    }

    /// The value of the file's metadata; streams have none.
    pub(super) fn metadata(&self, key: &str) -> Option<&str> {
        match &self.head {
            Head::Footer(footer) => value_of(root_as_footer(&footer.bytes).ok()?.custom_metadata(), key),
            Head::Message(_) => None,
        }
    }

    /// The name of the program that wrote the file, if it says so.
    pub(super) fn created_by(&self) -> Option<&str> {
        self.metadata(CREATED_BY)
    }

    /// Whether `brc` wrote the file, and its footer is intact.
    pub(super) fn is_own(&self) -> bool {
        matches!(&self.head, Head::Footer(footer) if footer.is_own)
    }

    /// The error for malformed content of the footer, or of the schema message of a stream.
    pub(super) fn corrupt(&self, reason: &str) -> Error {
        match self.head {
            Head::Footer(_) => in_footer(self.path, reason),
            Head::Message(_) => Error::corrupt(self.path, "schema", reason),
        }
    }
}

/// The metadata key of the writing program's name.
pub(super) const CREATED_BY: &str = "created_by";

/// The note for a stream without a last message.
const CUT_OFF: &str = "the stream has no end marker, so that it may have been cut off between two record batches";

/// The error for bytes after the end marker.
const TWO_STREAMS: &str = "has more bytes after the end of its arrow stream; one stream per file is read";

fn in_footer(path: &Path, reason: &str) -> Error {
    Error::corrupt(path, "footer", reason)
}

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
