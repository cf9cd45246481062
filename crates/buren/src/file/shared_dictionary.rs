//! The dictionary of a column of the file, decoded once for all scanners of a table.
//!
//! Most queries read all row groups and therefore need all values. The first scanner starts decoding, and others that
//! need the dictionary meanwhile take over blocks: decoding a dictionary of a million values is spread over all threads
//! of the scan.

use super::footer::DictionaryPart;
use super::reader::Reader;
use crate::Malformed;
use crate::block::{Block, BlockBuffer, Cost};
use crate::location::Location;
use crate::strings::{Scratch, SortedBlock, StringBuffer, Tokens};
use brc_core::{Dictionary, Result};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The maximum number of values for which memory is reserved in advance.
const MAX_RESERVED_VALUES: usize = 1 << 20;

/// The maximum number of bytes that are reserved in advance.
const MAX_RESERVED_BYTES: usize = 1 << 27;

/// The decoded dictionary of a column, if any scanner has requested it.
#[derive(Default)]
pub(super) struct SharedDictionary {
    first: Mutex<Option<Arc<FirstParts>>>,
    is_expected: AtomicBool,
}

/// The values of a dictionary's first parts.
struct FirstParts {
    parts: usize,
    blocks: Vec<PartBlock>,
    /// The next block to decode.
    next: AtomicUsize,
    joined: Mutex<Joined>,
    /// The complete dictionary; `None` if a block is damaged.
    whole: OnceLock<Option<Dictionary>>,
}

/// A block of a dictionary, with the tokens that apply to it, if any.
struct PartBlock {
    part: usize,
    count: u32,
    stored: Block,
    tokens: Option<Arc<Tokens>>,
}

/// The state of decoding.
#[derive(Default)]
struct Joined {
    /// The number of blocks whose values are in the dictionary.
    blocks: usize,
    dictionary: Dictionary,
    /// Decoded blocks that wait for earlier ones.
    waiting: BTreeMap<usize, StringBuffer>,
    /// Buffers for reuse.
    spare: Vec<StringBuffer>,
}

impl SharedDictionary {
    /// Whether this is the first call.
    pub(super) fn is_first(&self) -> bool {
        !self.is_expected.swap(true, Relaxed)
    }

    /// At least the first `values` values of a column's dictionary, and the number of parts they come from. `None` if
    /// they cannot be read; reading them without sharing reports the error.
    pub(super) fn first(
        &self,
        values: usize,
        reader: &Reader,
        column: usize,
        cost: &mut Cost,
    ) -> Option<(Dictionary, usize)> {
        let needed = parts_of(&reader.footer.dictionaries[column].parts, values);
        let parts = {
            let mut known = self.first.lock();
            match &*known {
                Some(parts) if parts.parts >= needed => Arc::clone(parts),
                _ => Arc::clone(known.insert(Arc::new(FirstParts::new(needed, reader, column, cost).ok()?))),
            }
        };
        let mut buffers = Default::default();
        loop {
            let number = parts.next.fetch_add(1, Relaxed);
            let Some(block) = parts.blocks.get(number) else { break };
            let decoded = block.decode(parts.take_buffer(), &mut buffers, reader, column, cost);
            parts.join(number, decoded);
        }
        if parts.blocks.is_empty() {
            parts.whole.get_or_init(|| Some(Dictionary::new()));
        }
        parts.whole.wait().clone().map(|dictionary| (dictionary, parts.parts))
    }
}

/// The number of leading parts that contain `values` values.
pub(super) fn parts_of(parts: &[DictionaryPart], values: usize) -> usize {
    let mut known = 0;
    let before = parts.iter().take_while(|part| {
        let is_wanted = known < values;
        known += part.blocks.iter().map(|(count, _)| *count as usize).sum::<usize>();
        is_wanted
    });
    before.count()
}

impl FirstParts {
    fn new(parts: usize, reader: &Reader, column: usize, cost: &mut Cost) -> Result<Self> {
        let (mut buffer, mut tokens, mut blocks) = (BlockBuffer::default(), None, Vec::new());
        for (number, part) in reader.footer.dictionaries[column].parts[..parts].iter().enumerate() {
            if part.tokens.length > 0 {
                tokens = Some(Arc::new(read_tokens(reader, column, (number, part), &mut buffer, cost)?));
            }
            let tokens = || tokens.clone();
            let block = |&(count, stored)| PartBlock { part: number, count, stored, tokens: tokens() };
            blocks.extend(part.blocks.iter().map(block));
        }
        let (next, joined, whole) = Default::default();
        Ok(Self { parts, blocks, next, joined, whole })
    }

    fn take_buffer(&self) -> StringBuffer {
        self.joined.lock().spare.pop().unwrap_or_default()
    }

    /// Adds the values of a block to the dictionary as soon as all earlier blocks have been added.
    fn join(&self, number: usize, decoded: Option<StringBuffer>) {
        let Some(decoded) = decoded else {
            self.whole.get_or_init(|| None);
            return;
        };
        let mut joined = self.joined.lock();
        let Joined { blocks, dictionary, waiting, spare } = &mut *joined;
        waiting.insert(number, decoded);
        while let Some(values) = waiting.remove(blocks) {
            let strings = values.strings();
            if *blocks == 0 && !strings.is_empty() {
                let all: usize = self.blocks.iter().map(|block| block.count as usize).sum();
                // Assumes that the values of other blocks have about the same length.
                let bytes = strings.total_bytes() / strings.len() * (all + all / 16);
                dictionary.reserve(all.min(MAX_RESERVED_VALUES), bytes.min(MAX_RESERVED_BYTES));
            }
            let ends = strings.offsets()[1..].iter().map(|&end| end as usize);
            dictionary.extend(ends, &strings.bytes()[..strings.total_bytes()]);
            spare.push(values);
            *blocks += 1;
        }
        if *blocks == self.blocks.len() {
            self.whole.get_or_init(|| Some(std::mem::take(dictionary)));
            spare.clear();
        }
    }
}

impl PartBlock {
    /// Decodes the block; `None` if it is damaged.
    fn decode(
        &self,
        mut decoded: StringBuffer,
        (buffer, scratch): &mut (BlockBuffer, Scratch),
        reader: &Reader,
        column: usize,
        cost: &mut Cost,
    ) -> Option<StringBuffer> {
        let location = Location::Dictionary { column: reader.footer.name(column), block: self.part };
        buffer.load(reader.source(), &self.stored, location, cost).ok()?;
        decode_block(buffer.bytes(), self.count, self.tokens.as_deref(), scratch, &mut decoded).ok()?;
        Some(decoded)
    }
}

/// Decodes a block of a dictionary, which has `count` values.
pub(super) fn decode_block(
    bytes: &[u8],
    count: u32,
    tokens: Option<&Tokens>,
    scratch: &mut Scratch,
    decoded: &mut StringBuffer,
) -> std::result::Result<(), Malformed> {
    SortedBlock::open(bytes, count as usize, tokens)?.decode(scratch, decoded)
}

/// The tokens of a part, which must have some.
pub(super) fn read_tokens(
    reader: &Reader,
    column: usize,
    (number, part): (usize, &DictionaryPart),
    buffer: &mut BlockBuffer,
    cost: &mut Cost,
) -> Result<Tokens> {
    let location = Location::DictionaryTokens { column: reader.footer.name(column), part: number };
    buffer.load(reader.source(), &part.tokens, location, cost)?;
    Tokens::read(buffer.bytes()).map_err(|reason| reader.corrupt(location, reason))
}
