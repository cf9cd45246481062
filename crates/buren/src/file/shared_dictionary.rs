//! The dictionary of a column of the file, decoded once for all scanners of a table.
//!
//! Most questions read all row groups, and so need all values. Whoever comes first decodes, and whoever comes while that goes
//! on takes blocks over: so a dictionary of a million values costs its scan no more time than its share of the threads.

use super::column::decode_dictionary;
use super::footer::DictionaryPart;
use super::reader::Reader;
use crate::block::{Block, BlockBuffer, Cost};
use crate::place::Place;
use crate::strings::{Scratch, StringBuffer, Tokens};
use brc_core::{Dictionary, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Room is made for so many values before they come.
const MOST_EXPECTED: usize = 1 << 20;

/// And for so many bytes.
const MOST_EXPECTED_BYTES: usize = 1 << 27;

/// What is decoded of a column's dictionary, once somebody asks for it.
#[derive(Default)]
pub(super) struct SharedDictionary {
    first: Mutex<Option<Arc<FirstParts>>>,
    is_expected: AtomicBool,
}

/// The values of a dictionary's first parts.
struct FirstParts {
    parts: usize,
    blocks: Vec<PartBlock>,
    /// The next block that nobody has begun to decode.
    next: AtomicUsize,
    joined: Mutex<Joined>,
    /// `None` if a block is damaged.
    whole: OnceLock<Option<Dictionary>>,
}

/// A block of values, by one of the tokens of the dictionary if they are of tokens.
struct PartBlock {
    part: usize,
    count: u32,
    stored: Block,
    tokens: Option<Arc<Tokens>>,
}

/// What was decoded so far.
#[derive(Default)]
struct Joined {
    /// How many blocks' values are in the dictionary.
    blocks: usize,
    dictionary: Dictionary,
    /// Those of later blocks.
    waiting: BTreeMap<usize, StringBuffer>,
    /// Memory for more.
    spare: Vec<StringBuffer>,
}

impl SharedDictionary {
    /// Whether nobody has asked that before.
    pub(super) fn is_first(&self) -> bool {
        !self.is_expected.swap(true, Relaxed)
    }

    /// At least the first so many values of a column's dictionary, and in how many parts those lie; `None` if what is stored
    /// of them cannot be read. Whoever reads it anew finds out why.
    pub(super) fn first(
        &self,
        values: usize,
        reader: &Reader,
        column: usize,
        cost: &mut Cost,
    ) -> Option<(Dictionary, usize)> {
        let needed = parts_of(&reader.footer.dictionaries[column].parts, values);
        let parts = {
            let mut known = self.first.lock().unwrap_or_else(PoisonError::into_inner);
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

/// How many of the first parts have so many values.
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
        self.joined.lock().unwrap_or_else(PoisonError::into_inner).spare.pop().unwrap_or_default()
    }

    /// Takes the values of a block, which are joined with the others as soon as those of all blocks before are.
    fn join(&self, number: usize, decoded: Option<StringBuffer>) {
        let Some(decoded) = decoded else {
            self.whole.get_or_init(|| None);
            return;
        };
        let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
        let Joined { blocks, dictionary, waiting, spare } = &mut *joined;
        waiting.insert(number, decoded);
        while let Some(values) = waiting.remove(blocks) {
            let strings = values.strings();
            if *blocks == 0 && !strings.is_empty() {
                let all: usize = self.blocks.iter().map(|block| block.count as usize).sum();
                // Others are about as long.
                let bytes = strings.total_bytes() / strings.len() * (all + all / 16);
                dictionary.reserve(all.min(MOST_EXPECTED), bytes.min(MOST_EXPECTED_BYTES));
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
    /// Its values; `None` if it is damaged.
    fn decode(
        &self,
        mut decoded: StringBuffer,
        (buffer, scratch): &mut (BlockBuffer, Scratch),
        reader: &Reader,
        column: usize,
        cost: &mut Cost,
    ) -> Option<StringBuffer> {
        let place = Place::Dictionary { column: reader.footer.name(column), block: self.part };
        buffer.load(reader.source(), &self.stored, place, cost).ok()?;
        decode_dictionary(buffer.bytes(), self.count, self.tokens.as_deref(), scratch, &mut decoded).ok()?;
        Some(decoded)
    }
}

/// The tokens of a part that has some.
pub(super) fn read_tokens(
    reader: &Reader,
    column: usize,
    (number, part): (usize, &DictionaryPart),
    buffer: &mut BlockBuffer,
    cost: &mut Cost,
) -> Result<Tokens> {
    let place = Place::DictionaryTokens { column: reader.footer.name(column), part: number };
    buffer.load(reader.source(), &part.tokens, place, cost)?;
    Tokens::read(buffer.bytes()).map_err(|reason| reader.corrupt(place, reason))
}
