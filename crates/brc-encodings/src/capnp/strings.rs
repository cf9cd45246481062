//! The strings of a frame: a dictionary of its rows' strings, and a code for each row.

use super::encoder::fill;
use super::packing::WORD;
use crate::table_capnp::column;
use ::capnp::text;
use brc_core::{ByteStrings, Dictionary};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

/// Collects the strings of a column.
#[derive(Default)]
pub(super) struct Strings {
    /// The strings of all codes of the batches; codes keep their meaning.
    strings: Dictionary,
    /// The length of the longest of them.
    longest: usize,
    /// For each code of the batches, the index of its string in the frame, or [`NOT_IN_FRAME`].
    indices: Vec<u32>,
    /// The codes whose strings are in the frame.
    seen_in_frame: Vec<u32>,
    /// All strings of the frame, if any came without a code.
    uncoded: Option<Box<Uncoded>>,
    /// The strings of the frame's dictionary, in order of appearance.
    frame_strings: Vec<StringSource>,
    /// The words of the string list: for each string a pointer, and its bytes with a NUL after them.
    dictionary_words: usize,
    /// For each row, the index of its string.
    codes: Vec<u32>,
}

/// All strings of a frame in which some came without codes. A string may come with a code and without, depending on
/// what the batches before it had; it is in the frame's dictionary once, so that the file does not depend on them.
struct Uncoded {
    interner: Interner,
    /// For each code of the interner, the index of its string in the frame.
    indices: Vec<u32>,
}

impl Uncoded {
    /// The index of a string in the frame, which becomes `new` if it has none, and its code in the interner.
    fn index_of(&mut self, string: &[u8], new: u32) -> (u32, u32) {
        let code = self.interner.intern(string);
        if code as usize == self.indices.len() {
            self.indices.push(new);
        }
        (self.indices[code as usize], code)
    }
}

/// The source of a string.
#[derive(Clone, Copy)]
enum StringSource {
    /// It has this code in the batches.
    Coded(u32),
    /// It came without a code, and has this code of the interner.
    Uncoded(u32),
}

/// Marks a string that is not in the frame's dictionary yet.
const NOT_IN_FRAME: u32 = u32::MAX;

impl Strings {
    /// Adds the new strings of a dictionary. Returns the length of the longest.
    pub(super) fn learn(&mut self, dictionary: &Dictionary) -> usize {
        for code in self.strings.len()..dictionary.len() {
            let string = dictionary.get(code as u32);
            self.strings.push(string);
            self.longest = self.longest.max(string.len());
        }
        self.longest
    }

    /// Appends rows with these codes of known strings.
    pub(super) fn push(&mut self, codes: &[u32]) {
        self.indices.resize(self.strings.len(), NOT_IN_FRAME);
        let start = self.codes.len();
        let mut all_known = true;
        self.codes.extend(codes.iter().map(|&code| {
            let index = self.indices[code as usize];
            all_known &= index != NOT_IN_FRAME;
            index
        }));
        if !all_known {
            self.codes.truncate(start);
            codes.iter().for_each(|&code| self.push_code(code));
        }
    }

    /// Appends a row; adds its string to the frame's dictionary if it is new.
    fn push_code(&mut self, code: u32) {
        let index = &mut self.indices[code as usize];
        if *index == NOT_IN_FRAME {
            let string = self.strings.get(code);
            let new = self.frame_strings.len() as u32;
            *index = self.uncoded.as_mut().map_or(new, |uncoded| uncoded.index_of(string, new).0);
            self.seen_in_frame.push(code);
            if *index == new {
                self.frame_strings.push(StringSource::Coded(code));
                self.dictionary_words += words_of(string);
            }
        }
        self.codes.push(*index);
    }

    /// Appends rows with nulls.
    pub(super) fn push_some(&mut self, codes: impl Iterator<Item = Option<u32>>) {
        self.indices.resize(self.strings.len(), NOT_IN_FRAME);
        for code in codes {
            match code {
                Some(code) => self.push_code(code),
                None => self.push_string(b""),
            }
        }
    }

    /// Appends rows of strings without codes; nulls are arbitrary strings.
    pub(super) fn push_strings(&mut self, strings: ByteStrings<'_>) {
        strings.iter().for_each(|string| self.push_string(string));
    }

    /// Appends a row of a string without a code.
    pub(super) fn push_string(&mut self, string: &[u8]) {
        let Self { strings, uncoded, frame_strings, .. } = self;
        let uncoded = uncoded.get_or_insert_with(|| {
            let mut uncoded = Uncoded { interner: Interner::new(Level::best()), indices: Vec::new() };
            for (index, source) in (0..).zip(&*frame_strings) {
                if let StringSource::Coded(code) = *source {
                    uncoded.index_of(strings.get(code), index);
                }
            }
            Box::new(uncoded)
        });
        let new = frame_strings.len() as u32;
        let (index, code) = uncoded.index_of(string, new);
        if index == new {
            frame_strings.push(StringSource::Uncoded(code));
            self.dictionary_words += words_of(string);
        }
        self.codes.push(index);
    }

    /// The words of the lists.
    pub(super) fn words(&self) -> usize {
        self.dictionary_words + (self.codes.len() * self.width()).div_ceil(WORD)
    }

    /// The bytes of a code.
    fn width(&self) -> usize {
        if self.frame_strings.len() <= 1 << 16 { 2 } else { 4 }
    }

    pub(super) fn build(&self, mut column: column::text::Builder<'_>) {
        let mut strings = column.reborrow().init_dictionary(self.frame_strings.len() as u32);
        for (index, &source) in (0..).zip(&self.frame_strings) {
            strings.set(index, text::Reader(self.string(source)));
        }
        let rows = self.codes.len() as u32;
        match self.width() {
            2 => fill(column.init_codes(rows), &self.codes, |code| code as u16),
            _ => fill(column.init_wide_codes(rows), &self.codes, |code| code),
        }
    }

    fn string(&self, source: StringSource) -> &[u8] {
        match (source, &self.uncoded) {
            (StringSource::Coded(code), _) => self.strings.get(code),
            (StringSource::Uncoded(code), Some(uncoded)) => uncoded.interner.dictionary().get(code),
            (StringSource::Uncoded(_), None) => &[],
        }
    }

    pub(super) fn clear(&mut self) {
        self.seen_in_frame.drain(..).for_each(|code| self.indices[code as usize] = NOT_IN_FRAME);
        self.frame_strings.clear();
        self.uncoded = None;
        self.codes.clear();
        self.dictionary_words = 0;
    }
}

/// The words of a string in a dictionary.
fn words_of(string: &[u8]) -> usize {
    1 + string.len() / WORD + 1
}
