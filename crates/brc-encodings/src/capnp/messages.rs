//! Takes messages off the front of some bytes, packed or not.
//!
//! The library requires messages at addresses that are multiples of eight. Messages at other addresses are copied to
//! aligned memory; packed ones are unpacked to it.

use super::packing::{self, Fault, WORD};
use crate::frames::LARGEST_FRAME;
use ::capnp::Word;
use ::capnp::message::{Reader, ReaderOptions};
use ::capnp::serialize::{self, NoAllocSliceSegments};

/// The maximum number of segments of a message: the library's limit.
const MAX_SEGMENTS: usize = 511;

/// The form of words in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Packed,
}

/// Why a message cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoMessage {
    /// The bytes end within it.
    CutOff,
    /// The bytes are not a message.
    Malformed(String),
}

impl NoMessage {
    pub(super) fn reason(self) -> String {
        match self {
            Self::CutOff => "the bytes end within a message".to_owned(),
            Self::Malformed(reason) => reason,
        }
    }
}

impl From<Fault> for NoMessage {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::CutOff => Self::CutOff,
            Fault::Overrun => Self::Malformed("packed words do not end where a segment does".to_owned()),
        }
    }
}

impl Form {
    fn read(self, bytes: &mut &[u8], out: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Plain => packing::take(bytes, out.len()).map(|taken| out.copy_from_slice(taken)),
            Self::Packed => packing::unpack(bytes, out),
        }
    }

    /// Skips a message.
    pub(super) fn skip(self, bytes: &mut &[u8]) -> Result<(), NoMessage> {
        let words = Table::read(self, bytes)?.segment_words;
        match self {
            Self::Plain => drop(packing::take(bytes, words * WORD)?),
            Self::Packed => packing::skip(bytes, words)?,
        }
        Ok(())
    }
}

/// The segment table at the start of a message.
struct Table {
    /// Its own bytes.
    bytes: Vec<u8>,
    /// The words of all segments.
    segment_words: usize,
}

impl Table {
    fn read(form: Form, bytes: &mut &[u8]) -> Result<Self, NoMessage> {
        let mut table = vec![0; WORD];
        form.read(bytes, &mut table)?;
        let segments = number(&table) as usize + 1;
        if !(1..=MAX_SEGMENTS).contains(&segments) {
            return Err(NoMessage::Malformed(format!("a message of {segments} segments is too much")));
        }
        table.resize(WORD * (segments / 2 + 1), 0);
        form.read(bytes, &mut table[WORD..])?;
        let lengths = table[4..].chunks_exact(4).take(segments);
        let segment_words = lengths.map(|length| number(length) as usize).sum();
        if segment_words > LARGEST_FRAME / WORD {
            return Err(NoMessage::Malformed(format!("a message of {segment_words} words is too long")));
        }
        Ok(Self { bytes: table, segment_words })
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Takes messages one at a time, into reused memory.
#[derive(Default)]
pub(super) struct Messages {
    words: Vec<Word>,
}

impl Messages {
    /// Takes a message off the front of `bytes`, which are not empty.
    pub(super) fn next<'a, 'b: 'a>(
        &'a mut self,
        form: Form,
        bytes: &mut &'b [u8],
    ) -> Result<Reader<NoAllocSliceSegments<'a>>, NoMessage> {
        let all = *bytes;
        let table = Table::read(form, bytes)?;
        let length = table.bytes.len() + table.segment_words * WORD;
        let mut message = if form == Form::Plain && all.as_ptr().addr().is_multiple_of(WORD) {
            packing::take(bytes, table.segment_words * WORD)?;
            &all[..length]
        } else {
            let buffer = first_words(&mut self.words, length / WORD);
            let (head, segments) = buffer.split_at_mut(table.bytes.len());
            head.copy_from_slice(&table.bytes);
            form.read(bytes, segments)?;
            buffer
        };
        // Every word is visited once; a message that exceeds this refers to some words several times.
        let limit = Some(length / WORD + 1024);
        let options = ReaderOptions { traversal_limit_in_words: limit, nesting_limit: 16 };
        serialize::read_message_from_flat_slice_no_alloc(&mut message, options).map_err(malformed)
    }
}

/// The first `count` words as bytes; allocates them if there are fewer.
fn first_words(words: &mut Vec<Word>, count: usize) -> &mut [u8] {
    if words.len() < count {
        *words = Word::allocate_zeroed_vec(count);
    }
    Word::words_to_bytes_mut(&mut words[..count])
}

/// For `map_err` on the library's errors of a message.
pub(super) fn malformed(error: ::capnp::Error) -> NoMessage {
    NoMessage::Malformed(error.to_string())
}
