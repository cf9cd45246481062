//! The text of a table's splits: whole rows, even if line ends occur in quotes.
//!
//! A split is a range of bytes; the rows that end in it belong to it. Whether its first byte is in quotes depends on
//! all text before it. So each worker scans its split for both cases at once, and the resulting state transitions are
//! [chained](Chain) in split order. The starts of rows are kept, because a table may be scanned again.
//!
//! A [stream](Stream) is read in split order. It can be scanned again only if it is copied to a temporary file while it
//! is read, which is done if types are inferred.

use super::split_text::{PORTION, SplitText};
use super::stream::Stream;
use crate::chunks::{Chunks, ReadCost, read_error};
use crate::input::cut_off;
use crate::input_file::InputFile;
use crate::turns::read_once;
use brc_core::{Error, ReadAt, Result};
use brc_kernels::cpu::Level;
use brc_kernels::structure::{Syntax, Transition};
use brc_text::rows::{Chain, Cut, Piece, RowOptions, RowScanner};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

/// The source of the bytes.
pub(super) enum Text {
    File { file: InputFile, length: u64 },
    Chunks(Chunks),
    Stream(Stream),
}

/// The text of a table.
pub(super) struct Source {
    path: PathBuf,
    text: Text,
    /// The offset from which the first row may start.
    body: u64,
    syntax: Syntax,
    max_row: usize,
    order: Mutex<Order>,
    turn: Condvar,
}

/// The state of the splits so far.
struct Order {
    chain: Chain,
    splits: Vec<SplitRows>,
    /// The start of the unfinished row; for a stream, also its bytes.
    row: u64,
    pending: Vec<u8>,
    /// The splits that a worker is reading and will chain.
    announced: BTreeSet<u64>,
    /// Whether a split could not be read, so that later ones have no known start.
    broken: bool,
}

/// The location of a split's rows.
#[derive(Clone, Copy)]
pub(super) struct SplitRows {
    /// The offset of the first row.
    pub(super) byte: u64,
    /// The offset after the last byte of the split; the last unfinished row belongs to the next split, unless the text
    /// ends.
    end: u64,
    /// Whether the text starts in a line that was rejected.
    pub(super) skip: bool,
    /// Whether this is the end of the text.
    pub(super) last: bool,
    /// Whether no row ends here.
    pub(super) is_empty: bool,
}

impl Source {
    pub(super) fn new(path: PathBuf, text: Text, body: u64, syntax: Syntax, max_row: usize) -> Self {
        let order = Order {
            chain: Chain::new(max_row),
            splits: Vec::new(),
            row: body,
            pending: Vec::new(),
            announced: BTreeSet::new(),
            broken: false,
        };
        Self { path, text, body, syntax, max_row, order: Mutex::new(order), turn: Condvar::new() }
    }

    pub(super) fn text(&self) -> &Text {
        &self.text
    }

    /// Reads the text of a split with the bytes `range(index)`; `None` if the text ended before it.
    pub(super) fn load(
        &self,
        index: u64,
        range: impl Fn(u64) -> Range<u64>,
        buffer: &mut SplitText,
        cost: &mut ReadCost,
    ) -> Result<Option<SplitRows>> {
        let _others = BreakOnPanic(self);
        let before = Instant::now();
        let decompressing = cost.decompress_time;
        let split = self.locate(index, &range, buffer, cost);
        if split.is_err() {
            self.break_off();
        }
        cost.read_time += before.elapsed().saturating_sub(cost.decompress_time - decompressing);
        split
    }

    /// Lets the workers that wait for a split that cannot be read go on without it.
    fn break_off(&self) {
        self.order.lock().broken = true;
        self.turn.notify_all();
    }

    fn locate(
        &self,
        index: u64,
        range: &impl Fn(u64) -> Range<u64>,
        buffer: &mut SplitText,
        cost: &mut ReadCost,
    ) -> Result<Option<SplitRows>> {
        let mut order = self.order.lock();
        let known = |order: &Order| order.splits.get(index as usize).copied();
        if let Text::Stream(stream) = &self.text {
            loop {
                if let Some(split) = known(&order) {
                    drop(order);
                    return self.reread(split, buffer, cost).map(|()| Some(split));
                }
                if order.broken || order.splits.last().is_some_and(|split| split.last) {
                    return Ok(None);
                }
                if order.splits.len() as u64 == index {
                    // All others wait for this split; but workers that scan an earlier one again may proceed.
                    drop(order);
                    return self.read_next(stream, [range(index), range(index + 1)], buffer, cost).map(Some);
                }
                self.turn.wait(&mut order);
            }
        }
        loop {
            if let Some(split) = known(&order) {
                drop(order);
                return self.reread(split, buffer, cost).map(|()| Some(split));
            }
            if order.broken {
                return Ok(None);
            }
            // Usually this is the split itself; an earlier one that no worker has announced is scanned on the way.
            let next = (order.splits.len() as u64..=index).find(|next| !order.announced.contains(next));
            let Some(next) = next else {
                self.turn.wait(&mut order);
                continue;
            };
            order.announced.insert(next);
            drop(order);
            buffer.clear();
            let bytes = range(next);
            self.read_and_follow(bytes.clone(), buffer, cost)?;
            order = self.order.lock();
            while (order.splits.len() as u64) < next {
                if order.broken {
                    return Ok(None);
                }
                self.turn.wait(&mut order);
            }
            let is_last = bytes.end >= self.length();
            self.chain(&mut order, bytes, is_last, buffer.transitions(), &[])?;
            order.announced.remove(&next);
            self.turn.notify_all();
            if next == index
                && let Some(split) = known(&order)
            {
                drop(order);
                return self.complete(split, range(index).start, buffer, cost).map(|()| Some(split));
            }
        }
    }

    /// The length of the whole text, with random access.
    fn length(&self) -> u64 {
        match &self.text {
            Text::File { length, .. } => *length,
            Text::Chunks(chunks) => chunks.length(),
            Text::Stream(_) => u64::MAX,
        }
    }

    /// Reads the next split of a stream; its bytes are the first of two ranges.
    fn read_next(
        &self,
        stream: &Stream,
        [bytes, following]: [Range<u64>; 2],
        buffer: &mut SplitText,
        cost: &mut ReadCost,
    ) -> Result<SplitRows> {
        let more = stream.next([&bytes, &following].map(length), buffer).map_err(read_error(&self.path))?;
        let read = buffer.as_slice().len() as u64;
        let mut order = self.order.lock();
        // The bytes before the first row were read to find the dialect.
        cost.bytes += read + if order.splits.is_empty() { self.body } else { 0 };
        buffer.prepend(&order.pending);
        order.pending.clear();
        let first = order.row;
        let bytes = bytes.start..bytes.start + read;
        let split = self.chain(&mut order, bytes, !more, buffer.transitions(), buffer.as_slice())?;
        let row = (order.row - first) as usize;
        order.pending.extend_from_slice(&buffer.as_slice()[row..]);
        drop(order);
        self.turn.notify_all();
        Ok(split)
    }

    /// Locates the rows of the next split. For a stream, `current` is its text, preceded by the unfinished row.
    fn chain(
        &self,
        order: &mut Order,
        bytes: Range<u64>,
        is_last: bool,
        transitions: &[(Transition, usize)],
        current: &[u8],
    ) -> Result<SplitRows> {
        let skip = order.chain.skip();
        let first = order.row;
        let mut start = bytes.start;
        let mut is_empty = !is_last;
        for (number, (transition, length)) in transitions.iter().enumerate() {
            let end = start + *length as u64;
            match order.chain.advance(transition, *length) {
                Cut::Rows(rows) => {
                    order.row = start + rows as u64;
                    is_empty = false;
                }
                Cut::Inside => {}
                Cut::Unsure => {
                    let last = is_last && number + 1 == transitions.len();
                    self.resume(order, first..end, last, current)?;
                    is_empty = false;
                }
            }
            start = end;
        }
        let split = SplitRows { byte: first, end: bytes.end, skip, last: is_last, is_empty };
        if is_last {
            order.row = bytes.end;
        }
        order.splits.push(split);
        Ok(split)
    }

    /// Scans the unfinished row up to the end of `bytes`, as it may be too long. For a stream, `current` begins at
    /// `bytes`.
    #[cold]
    fn resume(&self, order: &mut Order, bytes: Range<u64>, last: bool, current: &[u8]) -> Result<()> {
        let mut read = SplitText::default();
        let text = match &self.text {
            Text::Stream(_) => &current[(order.row - bytes.start) as usize..(bytes.end - bytes.start) as usize],
            Text::File { .. } | Text::Chunks(_) => {
                self.read_range(order.row..bytes.end, &mut read, &mut ReadCost::default())?;
                read.as_slice()
            }
        };
        let options = RowOptions { max_row: self.max_row, ..RowOptions::new(1) };
        let mut scanner = RowScanner::new(Level::best(), self.syntax.clone(), options);
        let piece = Piece { text, skip: order.chain.skip(), last };
        let Ok(scanned) = scanner.scan(piece, |_| Ok::<(), Infallible>(()));
        let rest = &text[scanned.bytes..];
        let transition = Transition::new(Level::best(), &self.syntax, rest);
        let length = rest.len();
        order.chain.resume(&transition, length, scanned.skip);
        order.row += scanned.bytes as u64;
        Ok(())
    }

    /// Puts the first row's bytes from earlier splits before the split's own.
    fn complete(&self, split: SplitRows, start: u64, buffer: &mut SplitText, cost: &mut ReadCost) -> Result<()> {
        if split.is_empty || split.byte >= start {
            buffer.skip((split.byte.max(start) - start) as usize);
            return Ok(());
        }
        let mut before = SplitText::default();
        self.read_range(split.byte..start, &mut before, cost)?;
        buffer.prepend(before.as_slice());
        Ok(())
    }

    /// Reads the text of a split whose location is known.
    fn reread(&self, split: SplitRows, buffer: &mut SplitText, cost: &mut ReadCost) -> Result<()> {
        buffer.clear();
        if split.is_empty { Ok(()) } else { self.read_range(split.byte..split.end, buffer, cost) }
    }

    /// Appends the bytes of a range, and their state transitions.
    fn read_and_follow(&self, range: Range<u64>, buffer: &mut SplitText, cost: &mut ReadCost) -> Result<()> {
        if let Text::File { file, .. } = &self.text {
            buffer.reserve(length(&range));
            for start in range.clone().step_by(PORTION) {
                let end = range.end.min(start + PORTION as u64);
                buffer.append_portion((end - start) as usize, &self.syntax, |room| {
                    self.read_at(file, room, start, cost)
                })?;
            }
            return Ok(());
        }
        self.read_range(range, buffer, cost)?;
        buffer.follow_all(&self.syntax);
        Ok(())
    }

    /// Appends the bytes of a range.
    fn read_range(&self, range: Range<u64>, buffer: &mut SplitText, cost: &mut ReadCost) -> Result<()> {
        let length = length(&range);
        match &self.text {
            Text::File { file, .. } => buffer.append(length, |room| self.read_at(file, room, range.start, cost)),
            Text::Stream(stream) => {
                let copy = stream.copy().ok_or_else(|| read_once(&self.path))?;
                let start = range.start - self.body;
                buffer.append(length, |room| self.read_at(copy, room, start, cost))
            }
            Text::Chunks(chunks) if length > 0 => buffer.extend(|buffer| read_chunks(chunks, range, buffer, cost)),
            Text::Chunks(_) => Ok(()),
        }
    }

    /// Fills a buffer from an offset of a file.
    fn read_at(&self, file: &dyn ReadAt, room: &mut [u8], offset: u64, cost: &mut ReadCost) -> Result<usize> {
        let read = file.read_full_at(room, offset).map_err(Error::io(&self.path, "read"))?;
        cost.bytes += read as u64;
        if read == room.len() { Ok(read) } else { Err(cut_off(&self.path, offset + read as u64)) }
    }
}

/// Breaks off if the worker panics, so that the others do not wait forever for its split.
struct BreakOnPanic<'a>(&'a Source);

impl Drop for BreakOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_off();
        }
    }
}

/// The length of a range.
fn length(range: &Range<u64>) -> usize {
    usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)
}

/// Appends a range of decompressed bytes.
fn read_chunks(chunks: &Chunks, range: Range<u64>, buffer: &mut Vec<u8>, cost: &mut ReadCost) -> Result<()> {
    let (mut stored, start) = (Vec::new(), buffer.len());
    let mut first = 0;
    for chunk in chunks.overlapping(&range) {
        let own = chunks.range(chunk);
        if buffer.len() == start {
            first = own.start;
        }
        let end = buffer.len();
        chunks.load(chunk, &mut stored, buffer, end, cost)?;
    }
    buffer.truncate(start + usize::try_from(range.end - first).unwrap_or(usize::MAX).min(buffer.len() - start));
    buffer.drain(start..start + ((range.start - first) as usize).min(buffer.len() - start));
    Ok(())
}
