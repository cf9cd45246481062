//! A table of frames, open for reading.

use super::file::FramedFile;
use super::scanner::FramesScanner;
use super::stream::FrameStream;
use super::{FIRST_VERSION, FileHeader, LONGEST_HEADER, Layout, VERSION};
use crate::encoding::OpenOptions;
use crate::input::{self, Input};
use brc_core::{Error, Result, ScanOptions, Scanner, Schema, Split, Table};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The minimum size of splits by default.
const SPLIT_BYTES: u64 = 2 << 20;

pub(super) struct FramesTable {
    path: PathBuf,
    schema: Schema,
    bytes: Option<u64>,
    split_bytes: u64,
    pub(super) layout: &'static dyn Layout,
    pub(super) source: FrameSource,
}

/// The source of frames.
pub(super) enum FrameSource {
    File { file: FramedFile, splits: Vec<Range<u64>> },
    Stream(FrameStream),
}

impl FramesTable {
    pub(super) fn open(layout: &'static dyn Layout, input: Input, options: &OpenOptions) -> Result<Self> {
        let mut input = input.in_whole_rows()?;
        let (schema, start) = schema(layout, &mut input, options)?;
        let path = input.path.clone();
        let bytes = input.length();
        let split_bytes = options.row_group_bytes.unwrap_or(SPLIT_BYTES).max(1);
        let of_file = |file: FramedFile| FrameSource::File { splits: file.splits(split_bytes), file };
        let source = match (input.source, start) {
            (input::Source::File { file, length }, Some(start)) => {
                of_file(FramedFile::in_file(&path, layout, file, length, start)?)
            }
            (input::Source::Chunks(chunks), Some(start)) => {
                of_file(FramedFile::in_chunks(&path, layout, chunks, start)?)
            }
            (source, start) => {
                let mut stream = Input { source, path: path.clone(), ..input }.into_stream()?;
                let mut header = vec![0; start.unwrap_or(0)];
                stream.read_exact(&mut header).map_err(crate::chunks::read_error(&path))?;
                FrameSource::Stream(FrameStream::new(&path, layout, &schema, stream, start))
            }
        };
        Ok(Self { path, schema, bytes, split_bytes, layout, source })
    }

    /// The size of a split of a stream in bytes.
    pub(super) fn stream_split_bytes(&self) -> usize {
        usize::try_from(self.split_bytes).unwrap_or(usize::MAX)
    }
}

/// The columns of a table, and the length of its header, if it has one.
fn schema(layout: &dyn Layout, input: &mut Input, options: &OpenOptions) -> Result<(Schema, Option<usize>)> {
    if input.prefix.len() < layout.magic().len() && layout.magic().starts_with(&input.prefix) {
        return Err(Error::corrupt(&input.path, "header", "the file ends within it"));
    }
    if !input.prefix.starts_with(layout.magic()) {
        // Unframed rows have no checksums: a damaged file must not be read as such.
        if has_lost_header(layout, &input.prefix) {
            return Err(Error::corrupt(&input.path, "header", "the first bytes are damaged or missing"));
        }
        let schema = options.schema.clone().or_else(|| layout.schema_of_prefix(&input.prefix));
        return schema.map(|schema| (schema, None)).ok_or_else(|| without_header(layout, input));
    }
    let (header, length) = read_header(layout, input)?;
    let path = &input.path;
    let corrupt = |reason: String| Error::corrupt(path, "header", reason);
    if !header.is_sound() {
        return Err(corrupt("the checksum does not match".to_owned()));
    }
    match header.version {
        FIRST_VERSION..=VERSION => {}
        0 => return Err(corrupt("there has never been a version 0".to_owned())),
        version => {
            return Err(Error::unsupported(
                path,
                format!("is of version {version}; this program reads up to {VERSION}"),
            ));
        }
    }
    // No checksum covers the rest of the header, but its content has only one spelling.
    if input.prefix.get(..length) != Some(layout.file_header(&header).as_slice()) {
        return Err(corrupt("it is not encoded as brc writes it".to_owned()));
    }
    let own = header.columns().map_err(corrupt)?;
    options.check_schema(path, &own)?;
    Ok((own, Some(length)))
}

/// The header of a file that begins with the magic, and its length. Nearly all headers fit the prefix.
fn read_header(layout: &dyn Layout, input: &mut Input) -> Result<(FileHeader, usize)> {
    loop {
        let known = input.prefix.len();
        match layout.read_file_header(&input.prefix) {
            Ok(found) => return Ok(found),
            Err(reason) => {
                if known < LONGEST_HEADER {
                    input.extend_prefix((4 * known).min(LONGEST_HEADER))?;
                }
                if input.prefix.len() <= known {
                    return Err(Error::corrupt(&input.path, "header", reason));
                }
            }
        }
    }
}

/// The number of last bytes of a magic that only files of `brc` have; the bytes before them may begin other files.
const MARK_BYTES: usize = 16;

/// Whether a file without the magic once had it: half of its mark is left, or there is a frame in a file that no
/// other program rewrote.
fn has_lost_header(layout: &dyn Layout, prefix: &[u8]) -> bool {
    let magic = layout.magic();
    let mark = magic.len().saturating_sub(MARK_BYTES)..magic.len();
    let found = prefix.get(mark.start..).unwrap_or_default();
    // Zeros are ignored: messages of other programs have them too.
    let nonzero = magic[mark].iter().enumerate().filter(|(_, own)| **own != 0);
    let equal = nonzero.clone().filter(|(at, own)| found.get(*at) == Some(own)).count();
    let has_mark = 2 * equal >= nonzero.count();
    let has_frame = || prefix.windows(layout.frame_header_bytes()).any(|it| layout.read_frame_header(it).is_some());
    has_mark || (!layout.is_rewritten(prefix) && has_frame())
}

/// The error of a file without a header whose columns were not given.
fn without_header(layout: &dyn Layout, input: &Input) -> Error {
    let (path, name) = (input.path.display(), layout.name());
    Error::Usage(format!(
        "{path}: has no header that describes its columns; if it is {name}, set them with --schema \
         'name:string,other:decimal(2)'"
    ))
}

impl Table for FramesTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        match &self.source {
            FrameSource::File { file, .. } => Some(file.rows()),
            FrameSource::Stream(_) => None,
        }
    }

    fn bytes(&self) -> Option<u64> {
        self.bytes.filter(|_| !self.is_read_once())
    }

    fn is_read_once(&self) -> bool {
        matches!(self.source, FrameSource::Stream(_))
    }

    fn split(&self, index: u64) -> Option<Split> {
        match &self.source {
            FrameSource::File { splits, .. } => {
                let frames = splits.get(usize::try_from(index).ok()?)?;
                Some(Split { index, start: frames.start, end: frames.end })
            }
            FrameSource::Stream(_) => Some(Split { index, start: index, end: index + 1 }),
        }
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(FramesScanner::new(self, options)))
    }
}
