//! The values of a dictionary in ascending order, front-coded: each omits the prefix it shares with the previous one.
//!
//! Every sixteenth value is stored in full, so that a single value can be found without decoding the others.

use super::buffers::StringBuffer;
use super::section::{self, Section};
use super::template::Template;
use super::{GROUP, LENGTHS, Malformed, Scratch, Strings, Tokenizer, Tokens, train};
use crate::array::{self, PackedArray};

/// The distance between values stored in full (restarts).
const RESTART: usize = 16;

/// The maximum length of a shared prefix, which limits the size to which a forged block can expand.
const MAX_SHARED: usize = 255;

const SHARED: Malformed = Malformed("a value shares more with the one before than it has or may");

/// Appends a block of values in ascending order. The tokens should come from [`train_sorted`].
pub fn encode_sorted(values: Strings<'_>, tokenizer: Option<&Tokenizer>, out: &mut Vec<u8>) {
    let template = Template::of_affixes(values);
    let left = template.strip(values);
    let (shared, rests) = front_code(left.strings());
    template.write(out);
    array::write(&shared, out);
    let Some(tokenizer) = tokenizer else { return section::write(rests.strings(), None, out) };
    let (mut codes, mut restarts) = (Vec::new(), Vec::new());
    tokenizer.encode(rests.strings(), RESTART, &mut codes, &mut restarts);
    let before = std::iter::once(0).chain(restarts.iter().copied());
    array::write(&restarts.iter().zip(before).map(|(end, start)| i64::from(end - start)).collect::<Vec<_>>(), out);
    let of_groups = restarts.chunks(GROUP / RESTART).filter_map(|ends| ends.last().copied()).collect::<Vec<_>>();
    section::write_tokenized(rests.strings(), tokenizer, &codes, &of_groups, out);
}

/// Trains tokens for the suffixes of sorted values.
#[must_use]
pub fn train_sorted(values: Strings<'_>) -> Tokenizer {
    let template = Template::of_affixes(values);
    let (_, rests) = front_code(template.strip(values).strings());
    train(rests.strings())
}

/// The length of the prefix that each value shares with the previous one, and the suffixes.
fn front_code(values: Strings<'_>) -> (Vec<i64>, StringBuffer) {
    let (mut shared, mut rests) = (Vec::with_capacity(values.len()), StringBuffer::default());
    let mut last: &[u8] = &[];
    for (row, value) in values.iter().enumerate() {
        let most = if row % RESTART == 0 { 0 } else { MAX_SHARED };
        let common = last.iter().zip(value).take(most).take_while(|(a, b)| a == b).count();
        shared.push(common as i64);
        rests.push(&value[common..]);
        last = value;
    }
    (shared, rests)
}

/// A block of values in ascending order.
pub struct SortedBlock<'a> {
    template: Template,
    shared: PackedArray<'a>,
    /// The number of codes from each restart to the next, if values are stored as codes.
    restarts: Option<PackedArray<'a>>,
    rests: Section<'a>,
    count: usize,
}

impl<'a> SortedBlock<'a> {
    /// Opens a block of `count` values. `tokens` are those of its dictionary, if it has any.
    ///
    /// # Errors
    /// If the start of the block is malformed.
    pub fn open(mut bytes: &'a [u8], count: usize, tokens: Option<&'a Tokens>) -> Result<Self, Malformed> {
        let template = Template::take(&mut bytes)?;
        let shared = PackedArray::take(&mut bytes, count)?;
        let restarts = tokens.map(|_| PackedArray::take(&mut bytes, count.div_ceil(RESTART))).transpose()?;
        let rests = Section::open(bytes, count, tokens)?;
        Ok(Self { template, shared, restarts, rests, count })
    }

    /// Replaces `out` with all values.
    ///
    /// # Errors
    /// If the block is malformed, or the values do not ascend.
    pub fn decode(&self, scratch: &mut Scratch, out: &mut StringBuffer) -> Result<(), Malformed> {
        let (mut rests, mut left) = (StringBuffer::default(), std::mem::take(&mut scratch.left));
        self.rests.decode(0..self.count, scratch, &mut rests)?;
        let shared = self.shared(0..self.count, &mut scratch.lengths)?;
        let lengths = shared.iter().zip(rests.strings().lengths()).map(|(shared, rest)| rest.saturating_add(*shared));
        left.set_lengths(lengths, 0)?;
        let (offsets, room) = left.room();
        let mut last = 0..0;
        for (row, (rest, &shared)) in rests.strings().iter().zip(shared).enumerate() {
            let (start, shared) = (offsets[row] as usize, shared as usize);
            if shared > last.len() {
                return Err(SHARED);
            }
            room.copy_within(last.start..last.start + shared, start);
            room[start + shared..start + shared + rest.len()].copy_from_slice(rest);
            last = start..start + shared + rest.len();
        }
        self.template.fill(&mut left, out)?;
        scratch.left = left;
        if out.strings().iter().is_sorted_by(|a, b| a < b) {
            Ok(())
        } else {
            Err(Malformed("its values are not in ascending order"))
        }
    }

    /// Decodes a single value.
    ///
    /// # Errors
    /// If the block is malformed.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    pub fn get(&self, index: usize, scratch: &mut Scratch) -> Result<Vec<u8>, Malformed> {
        assert!(index < self.count, "a value of the block");
        let (group, restart) = (index / GROUP * GROUP, index / RESTART * RESTART);
        let group_end = self.count.min(group + GROUP);
        let stored = self.rests.lengths.stored(&(group..group_end))?;
        let lengths = self.rests.lengths.read(&(group..group_end), &mut scratch.lengths)?.to_vec();
        let sum = |lengths: &[u32]| lengths.iter().map(|&length| u64::from(length)).sum::<u64>() as usize;
        let before = match &self.restarts {
            Some(restarts) => {
                let mut codes = vec![0; (restart - group) / RESTART + 1];
                restarts.read_u32_part(group / RESTART, &mut codes)?;
                let (&of_restart, before) = codes.split_last().ok_or(LENGTHS)?;
                (sum(before), of_restart as usize)
            }
            None => (
                sum(&lengths[..restart - group]),
                sum(&lengths[restart - group..(restart + RESTART).min(group_end) - group]),
            ),
        };
        let start = stored.start + before.0;
        let mut rests = Vec::new();
        self.rests.append(start..start + before.1, &mut rests)?;
        let shared = self.shared(restart..index + 1, &mut scratch.lengths)?;
        let mut value: Vec<u8> = Vec::new();
        let mut rests = rests.as_slice();
        for (&shared, &length) in shared.iter().zip(&lengths[restart - group..]) {
            let (rest, after) = rests.split_at_checked(length as usize).ok_or(LENGTHS)?;
            if shared as usize > value.len() {
                return Err(SHARED);
            }
            value.truncate(shared as usize);
            value.extend_from_slice(rest);
            rests = after;
        }
        let mut one: StringBuffer = std::iter::once(value.as_slice()).collect();
        let mut filled = StringBuffer::default();
        self.template.fill(&mut one, &mut filled)?;
        Ok(filled.strings().get(0).to_vec())
    }

    /// The lengths of the shared prefixes of some values.
    fn shared<'b>(&self, values: std::ops::Range<usize>, scratch: &'b mut Vec<u32>) -> Result<&'b [u32], Malformed> {
        let shared = super::buffers::at_least(scratch, values.len());
        self.shared.read_u32_part(values.start, shared)?;
        if shared.iter().any(|&shared| shared as usize > MAX_SHARED) {
            return Err(SHARED);
        }
        Ok(shared)
    }
}
