//! The metadata of a record batch, checked against the file: the ranges of its buffers.

use super::bounds::Bounds;
use super::codec::Codec;
use super::messages::CONTINUATION;
use super::types::{FileColumn, LayoutCounts};
use crate::columnar::Fault;
use arrow_ipc::{Block, Message, RecordBatch, root_as_message};
use std::ops::Range;

/// A record batch, or the values of a dictionary.
pub(super) struct BatchLayout {
    pub(super) rows: usize,
    /// The buffers of each column: first its validity bitmap, then its values. Offsets are from the start of the file.
    pub(super) columns: Vec<Vec<Range<u64>>>,
    /// The null count of each column.
    pub(super) nulls: Vec<usize>,
    pub(super) codec: Option<Codec>,
    /// The whole block.
    pub(super) location: BlockRange,
    /// The checksum of each column's buffers, if `brc` wrote the file.
    pub(super) checksums: Vec<u32>,
    /// The bounds of each column's numbers, if `brc` wrote them.
    pub(super) bounds: Bounds,
}

/// The range of a block in the file, from the footer; checked to be within the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRange {
    pub(super) start: u64,
    pub(super) metadata: usize,
    pub(super) body: u64,
}

impl BlockRange {
    /// The range of a block; `end` is the offset of the footer.
    pub(super) fn of(block: &Block, end: u64) -> Result<Self, Fault> {
        let outside = || Fault::corrupt("it lies outside the file");
        let start = u64::try_from(block.offset()).map_err(|_| outside())?;
        let metadata = usize::try_from(block.metaDataLength()).map_err(|_| outside())?;
        let body = u64::try_from(block.bodyLength()).map_err(|_| outside())?;
        let last = start.checked_add(metadata as u64).and_then(|at| at.checked_add(body));
        if last.is_none_or(|last| last > end) {
            return Err(outside());
        }
        Ok(Self { start, metadata, body })
    }

    pub(super) fn body_start(&self) -> u64 {
        self.start + self.metadata as u64
    }

    pub(super) fn whole(&self) -> Range<u64> {
        self.start..self.body_start() + self.body
    }

    pub(super) fn bytes(&self) -> u64 {
        self.metadata as u64 + self.body
    }
}

/// Parses the message of a block from its metadata.
pub(super) fn message(metadata: &[u8]) -> Result<Message<'_>, Fault> {
    let cut_off = || Fault::corrupt("its message ends too early");
    let (mut length, mut rest) = metadata.split_first_chunk::<4>().ok_or_else(cut_off)?;
    // Old files lack the continuation marker before the length.
    if *length == CONTINUATION {
        (length, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
    }
    let message = rest.get(..u32::from_le_bytes(*length) as usize).ok_or_else(cut_off)?;
    root_as_message(message).map_err(|error| Fault::corrupt(format!("malformed message: {error}")))
}

impl BatchLayout {
    /// The layout of a record batch with these columns, followed by unsupported ones.
    pub(super) fn new(
        batch: RecordBatch<'_>,
        columns: &[FileColumn],
        trailing: LayoutCounts,
        location: &BlockRange,
    ) -> Result<Self, Fault> {
        let rows = usize::try_from(batch.length()).map_err(|_| Fault::corrupt("it has a negative number of rows"))?;
        let codec = match batch.compression() {
            None => None,
            Some(compression) => {
                let unknown = || Fault::unsupported(format!("it is compressed with {:?}", compression.codec()));
                Some(Codec::by_id(compression.codec()).ok_or_else(unknown)?)
            }
        };
        let missing = || Fault::corrupt("it does not have the columns of the table");
        let mut nodes = batch.nodes().into_iter().flatten();
        let mut buffers = batch.buffers().into_iter().flatten();
        let mut variadic = batch.variadicBufferCounts().into_iter().flatten().map(usize::try_from);
        let mut all = Vec::with_capacity(columns.len());
        let mut nulls = Vec::with_capacity(columns.len());
        for column in columns {
            pass(column.before, &mut nodes, &mut buffers, &mut variadic).ok_or_else(missing)?;
            let node = nodes.next().ok_or_else(missing)?;
            if usize::try_from(node.length()) != Ok(rows) {
                return Err(Fault::corrupt(format!("column '{}' does not have its rows", column.name)));
            }
            let null =
                usize::try_from(node.null_count()).ok().filter(|null| *null == 0 || column.nullable && *null <= rows);
            let wrong_count = || Fault::corrupt(format!("column '{}' does not have so many nulls", column.name));
            nulls.push(null.ok_or_else(wrong_count)?);
            let mut count = column.own.buffers;
            for _ in 0..column.own.views {
                let more = variadic.next().and_then(Result::ok);
                count = count.saturating_add(more.ok_or_else(missing)?);
            }
            let mut own = Vec::new();
            for _ in 0..count {
                let buffer = buffers.next().ok_or_else(missing)?;
                own.push(range(buffer.offset(), buffer.length(), location)?);
            }
            all.push(own);
        }
        pass(trailing, &mut nodes, &mut buffers, &mut variadic).ok_or_else(missing)?;
        if nodes.next().is_some() || buffers.next().is_some() {
            return Err(missing());
        }
        Ok(Self { rows, columns: all, nulls, codec, location: *location, checksums: Vec::new(), bounds: Vec::new() })
    }
}

/// Skips the nodes and buffers of unsupported columns; `None` if there are too few.
fn pass<N, B, E>(
    gap: LayoutCounts,
    nodes: &mut impl Iterator<Item = N>,
    buffers: &mut impl Iterator<Item = B>,
    views: &mut impl Iterator<Item = Result<usize, E>>,
) -> Option<()> {
    let mut count = gap.buffers;
    for _ in 0..gap.views {
        count = count.checked_add(views.next()?.ok()?)?;
    }
    let passed = (nodes.take(gap.nodes).count(), buffers.take(count).count());
    (passed == (gap.nodes, count)).then_some(())
}

fn range(offset: i64, length: i64, location: &BlockRange) -> Result<Range<u64>, Fault> {
    let inside = |offset: u64, length: u64| offset.checked_add(length).filter(|end| *end <= location.body);
    let range = match (u64::try_from(offset), u64::try_from(length)) {
        (Ok(offset), Ok(length)) => inside(offset, length).map(|end| offset..end),
        _ => None,
    };
    let range = range.ok_or_else(|| Fault::corrupt("a buffer is not inside its block"))?;
    let body = location.body_start();
    Ok(body + range.start..body + range.end)
}
