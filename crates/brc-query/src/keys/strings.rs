//! Numbers the strings of one column, whether they come as codes of the scanner's dictionary or as bytes.

use super::direct::Direct;
use super::index::NameIndex;
use super::short::ShortNames;
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use crate::values::selection::set_rows;
use brc_core::{ByteStrings, Column, Dictionary, Integers};
use brc_kernels::cpu::Level;
use brc_kernels::digits::Digits;

/// The distinct strings of a column. As long as they only come as codes, which is nearly always, their numbers are
/// those codes, and nothing is hashed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strings {
    pub(crate) names: Dictionary,
    /// Made when strings first come as bytes, or a number is reserved.
    mixed: Option<Box<Mixed>>,
}

#[derive(Debug, Clone)]
struct Mixed {
    short: ShortNames,
    /// Those that are not short.
    long: NameIndex,
    /// Our number of each of the scanner's codes.
    numbers: Vec<u32>,
    digits: DigitStrings,
}

/// Fixed-width numeric strings, whose values index an array of our numbers.
#[derive(Debug, Clone, Default)]
struct DigitStrings {
    like: Option<Digits>,
    direct: Direct,
    values: Vec<i64>,
    found: Vec<u32>,
    /// The number of batches with other strings.
    failures: u32,
}

impl DigitStrings {
    /// After this many batches with other strings, parsing is not tried again.
    const MAX_FAILURES: u32 = 4;

    /// Whether strings of the next batches may be found by an array.
    fn may_help(&self) -> bool {
        self.like.is_some() && self.failures == 0 && !self.direct.is_off()
    }

    /// Parses all strings of a batch; `false` if one is not numeric or of another width.
    fn parse(&mut self, level: Level, strings: ByteStrings<'_>) -> bool {
        if strings.is_empty() || self.failures >= Self::MAX_FAILURES {
            return false;
        }
        self.like = self.like.or_else(|| Digits::of(strings.get(0)));
        let (offsets, bytes) = strings.parts();
        let is_like = self.like.is_some_and(|like| like.parse(level, offsets, bytes, &mut self.values));
        self.failures += u32::from(!is_like);
        is_like
    }
}

impl Mixed {
    #[inline]
    fn code(&mut self, name: &[u8], names: &mut Dictionary) -> u32 {
        match self.short.code(name, names) {
            Some(code) => code,
            None => self.long.code(name, names),
        }
    }

    /// Takes the next of the scanner's names.
    fn learn(&mut self, name: &[u8], names: &mut Dictionary) {
        let number = self.code(name, names);
        self.numbers.push(number);
    }
}

impl Strings {
    /// These strings.
    pub(crate) fn of(names: Dictionary) -> Self {
        Self { names, mixed: None }
    }

    /// Learns what was added to the scanner's dictionary. Returns the number of each of its codes, unless that is the
    /// code.
    pub(crate) fn learn(&mut self, dictionary: &Dictionary) -> Option<&[u32]> {
        let Self { names, mixed } = self;
        match mixed {
            None if names.is_empty() => names.clone_from(dictionary),
            None => {
                for code in names.len()..dictionary.len() {
                    names.push(dictionary.get(code as u32));
                }
            }
            Some(mixed) => {
                for code in mixed.numbers.len()..dictionary.len() {
                    mixed.learn(dictionary.get(code as u32), names);
                }
            }
        }
        mixed.as_ref().map(|mixed| mixed.numbers.as_slice())
    }

    /// The number of a string, which may be new.
    pub(crate) fn number(&mut self, string: &[u8]) -> u32 {
        self.mix();
        let Self { names, mixed } = self;
        mixed.as_mut().map_or(0, |mixed| mixed.code(string, names))
    }

    /// Appends the numbers of all strings of a batch. Returns whether that took a hash table.
    pub(crate) fn number_all(
        &mut self,
        level: Level,
        strings: ByteStrings<'_>,
        all: &mut Vec<u32>,
    ) -> Result<bool, BatchError> {
        self.mix();
        let Self { names, mixed: Some(mixed) } = self else { return Ok(true) };
        let Mixed { short, long, digits, .. } = mixed.as_mut();
        let mut code = |string: &[u8]| short.code(string, names).unwrap_or_else(|| long.code(string, names));
        if digits.parse(level, strings) {
            let DigitStrings { direct, values, found, .. } = digits;
            let key = [Column::integers(Integers::I64(values))];
            let ask = |asked: Selection<'_>| {
                Ok(match asked {
                    Selection::All => strings.iter().map(&mut code).collect(),
                    Selection::Some(mask, _) => set_rows(mask).map(|row| code(strings.get(row))).collect(),
                })
            };
            if direct.groups_of(level, &key, Selection::All, strings.len(), ask, found)? {
                all.extend_from_slice(found);
                return Ok(false);
            }
        }
        all.extend(strings.iter().map(code));
        Ok(true)
    }

    /// Whether an array may still replace the hash table: all strings so far are numeric, but there were too few of
    /// them.
    pub(crate) fn may_be_direct(&self) -> bool {
        self.mixed.as_ref().is_some_and(|mixed| mixed.digits.may_help())
    }

    /// A number that no string has.
    pub(crate) fn reserve(&mut self) -> u32 {
        self.mix();
        self.names.push(b"")
    }

    /// From now on numbers need not be codes.
    fn mix(&mut self) {
        let names = &self.names;
        self.mixed.get_or_insert_with(|| {
            let mut short = ShortNames::default();
            names.iter().zip(0..).for_each(|(name, code)| short.insert(name, code));
            let (long, numbers) = (NameIndex::of(names), (0..names.len() as u32).collect());
            Box::new(Mixed { short, long, numbers, digits: DigitStrings::default() })
        });
    }

    /// Replaces codes by numbers.
    pub(crate) fn translate(&mut self, dictionary: &Dictionary, codes: &mut [u64]) -> Result<(), BatchError> {
        let known = dictionary.len() as u64;
        if codes.iter().any(|&code| code >= known) {
            return Err(BatchError("a code is not in its dictionary"));
        }
        if let Some(numbers) = self.learn(dictionary) {
            codes.iter_mut().for_each(|code| *code = numbers[*code as usize].into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_bytes_agree() {
        let mut strings = Strings::default();
        let mut dictionary: Dictionary = ["a", "b"].into_iter().collect();
        assert_eq!(strings.learn(&dictionary), None);
        assert_eq!([strings.number(b"c"), strings.number(b"b"), strings.number(b"")], [2, 1, 3]);
        dictionary.push(b"");
        dictionary.push(b"d");
        assert_eq!(strings.learn(&dictionary), Some(&[0, 1, 3, 4][..]));
        assert_eq!(strings.number(b"d"), 4);
        let mut codes = [3, 0, 2];
        strings.translate(&dictionary, &mut codes).unwrap();
        assert_eq!(codes, [4, 0, 3]);
        assert!(strings.translate(&dictionary, &mut [4]).is_err());
        let nobody = strings.reserve();
        assert_eq!([nobody, strings.number(b""), strings.number(b"e")], [5, 3, 6]);
    }
}
