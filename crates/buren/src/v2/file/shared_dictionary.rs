//! The dictionary of a column of the file, decoded once for all scanners of a table.
//!
//! Most questions read all row groups, and so need all values. Whoever comes first decodes, and whoever comes while that goes
//! on takes blocks over: so a dictionary of a million values costs its scan no more time than its share of the threads.

use super::column::decode_dictionary;
use super::footer::DictionaryPart;
use super::reader::Reader;
use crate::block::{Block, BlockBuffer, Cost};
use crate::place::Place;
use crate::v2::strings::{StringBuffer, Tokens};
use brc_core::{Dictionary, Result};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What is decoded of a column's dictionary, once somebody asks for it.
#[derive(Default)]
pub(super) struct SharedDictionary(Mutex<Option<Arc<FirstParts>>>);

/// The values of a dictionary's first parts.
struct FirstParts {
    parts: usize,
    blocks: Vec<PartBlock>,
    /// The next block that nobody has begun to decode.
    next: AtomicUsize,
    whole: OnceLock<Option<Dictionary>>,
}

/// A block of values, by one of the tokens of the dictionary if they are of tokens.
struct PartBlock {
    part: usize,
    count: u32,
    stored: Block,
    tokens: Option<Arc<Tokens>>,
    /// `None` if it is damaged.
    values: OnceLock<Option<Mutex<StringBuffer>>>,
}

impl SharedDictionary {
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
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &*known {
                Some(parts) if parts.parts >= needed => Arc::clone(parts),
                _ => Arc::clone(known.insert(Arc::new(FirstParts::new(needed, reader, column, cost).ok()?))),
            }
        };
        while let Some(block) = parts.blocks.get(parts.next.fetch_add(1, Relaxed)) {
            block.decode(reader, column, cost);
        }
        let whole = parts.whole.get_or_init(|| join(&parts.blocks));
        whole.clone().map(|dictionary| (dictionary, parts.parts))
    }
}

/// How many of the first parts have so many values.
fn parts_of(parts: &[DictionaryPart], values: usize) -> usize {
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
            blocks.extend(part.blocks.iter().map(|&(count, stored)| PartBlock {
                part: number,
                count,
                stored,
                tokens: tokens.clone(),
                values: OnceLock::new(),
            }));
        }
        Ok(Self { parts, blocks, next: AtomicUsize::new(0), whole: OnceLock::new() })
    }
}

impl PartBlock {
    fn decode(&self, reader: &Reader, column: usize, cost: &mut Cost) {
        let place = Place::Dictionary { column: reader.footer.name(column), block: self.part };
        let (mut buffer, mut scratch, mut decoded) = Default::default();
        let buffer: &mut BlockBuffer = &mut buffer;
        let values = buffer.load(reader.source(), &self.stored, place, cost).ok().and_then(|()| {
            decode_dictionary(buffer.bytes(), self.count, self.tokens.as_deref(), &mut scratch, &mut decoded).ok()
        });
        self.values.get_or_init(|| values.map(|()| Mutex::new(decoded)));
    }
}

/// All values one behind the other, as soon as all are there; they are taken out of the blocks.
fn join(blocks: &[PartBlock]) -> Option<Dictionary> {
    let decoded = blocks.iter().map(|block| block.values.wait().as_ref()).collect::<Option<Vec<_>>>()?;
    let lock =
        |values: &Mutex<StringBuffer>| std::mem::take(&mut *values.lock().unwrap_or_else(PoisonError::into_inner));
    let mut decoded: Vec<StringBuffer> = decoded.into_iter().map(lock).collect();
    let mut all = Dictionary::new();
    let bytes = decoded.iter().map(|values| values.strings().total_bytes()).sum();
    all.reserve(decoded.iter().map(|values| values.strings().len()).sum(), bytes);
    for values in decoded.drain(..) {
        let strings = values.strings();
        let ends = strings.offsets()[1..].iter().map(|&end| end as usize);
        all.extend(ends, &strings.bytes()[..strings.total_bytes()]);
    }
    Some(all)
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
