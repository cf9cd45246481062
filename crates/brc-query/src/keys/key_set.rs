//! Numbers the distinct tuples of keys from 0, in the order of their first appearance.

mod key_column;
mod parts;

pub(crate) use parts::KeyParts;

use super::digits::Range;
use super::index::TupleIndex;
use super::layout::{KeyKind, KeyLayout, Layout};
use super::strings::Strings;
use crate::values::cells::Cells;
use crate::values::error::BatchError;
use crate::values::float_key::{float_key, float_of_key};
use crate::values::selection::Selection;
use crate::values::selection::keep;
use brc_core::batch::codes_of;
use brc_core::{Column, Data, Dictionary, LogicalType, Value, interrupt};
use brc_kernels::cpu::Level;
use hashbrown::HashMap;
use key_column::KeyColumn;
use serde::{Deserialize, Serialize};

/// The number of tuples of another set that are numbered between two checks for interruption.
const TOGETHER: usize = 1 << 16;

/// Tuples of keys, each once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "KeyParts", into = "KeyParts")]
pub(crate) struct KeySet {
    types: Vec<(LogicalType, bool)>,
    layout: Layout,
    strings: Vec<Option<Strings>>,
    tuples: Vec<u64>,
    /// Made when it is first needed.
    index: Option<TupleIndex>,
    key_columns: Vec<KeyColumn>,
    /// The tuples of a batch's wanted rows.
    packed: Vec<u64>,
    codes: Vec<u32>,
    numbers: Vec<u32>,
}

impl KeySet {
    /// No tuples of keys of these types, each with whether it may be null.
    ///
    /// # Panics
    /// If there is no key.
    pub(crate) fn new(types: &[(LogicalType, bool)]) -> Self {
        assert!(!types.is_empty(), "a tuple has at least one key");
        let layout = Layout::new(types);
        let is_strings = |key: &KeyLayout| (key.kind == KeyKind::Strings).then(Strings::default);
        Self {
            types: types.to_vec(),
            strings: layout.keys.iter().map(is_strings).collect(),
            key_columns: vec![KeyColumn::default(); types.len()],
            layout,
            tuples: Vec::new(),
            index: None,
            packed: Vec::new(),
            codes: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// The tuples of a single key of strings, those of `names` in their order; the string with number `null` represents
    /// null.
    pub(crate) fn of_strings(types: &[(LogicalType, bool)], names: Dictionary, null: Option<u32>) -> Self {
        let mut set = Self::new(types);
        let key = set.layout.keys[0];
        let mut code = 0;
        for number in 0..names.len() as u32 {
            let mut tuple = [0];
            match key.null.filter(|_| null == Some(number)) {
                Some(place) => place.set(&mut tuple, 1),
                None => {
                    key.low.set(&mut tuple, code);
                    code += 1;
                }
            }
            set.tuples.extend_from_slice(&tuple);
        }
        let real = (0..names.len() as u32).filter(|number| Some(*number) != null).map(|number| names.get(number));
        let names = if null.is_some() { real.collect() } else { names };
        set.strings[0] = Some(Strings::of(names));
        set
    }

    pub(crate) fn types(&self) -> &[(LogicalType, bool)] {
        &self.types
    }

    /// How many tuples there are.
    pub(crate) fn len(&self) -> usize {
        self.tuples.len() / self.layout.width
    }

    /// The value that a tuple has for a key; `None` if it is null.
    pub(crate) fn value(&self, key: usize, tuple: usize) -> Option<Value<'_>> {
        let width = self.layout.width;
        let tuple = &self.tuples[tuple * width..(tuple + 1) * width];
        let layout = &self.layout.keys[key];
        if layout.is_null(tuple) {
            return None;
        }
        let bits = layout.bits(tuple);
        Some(match (layout.kind, &self.strings[key]) {
            (KeyKind::Integers { min, .. }, _) => Value::Integer(min.wrapping_add(bits as i128)),
            (KeyKind::Floats, _) => Value::Float(float_of_key(bits as u64)),
            (KeyKind::Strings, Some(strings)) => Value::Bytes(strings.names.get(bits as u32)),
            (KeyKind::Strings, None) => Value::Bytes(&[]),
        })
    }

    /// Appends the values that some tuples have for a key.
    pub(crate) fn push_values(&self, key: usize, tuples: impl Iterator<Item = usize> + Clone, cells: &mut Cells) {
        let (width, layout) = (self.layout.width, self.layout.keys[key]);
        let mut any_null = tuples.clone().map(|tuple| layout.is_null(&self.tuples[tuple * width..]));
        match layout.kind.least_of_64_bits() {
            Some(least) if !any_null.any(|is_null| is_null) => {
                let rows = tuples.clone().count();
                let value = |tuple: usize| least.wrapping_add(layout.low.get(&self.tuples[tuple * width..]) as i64);
                cells.extend_integers(tuples.map(value));
                cells.extend_validity(rows, |_| true, false);
            }
            Some(_) | None => tuples.for_each(|tuple| _ = cells.push(self.value(key, tuple))),
        }
    }

    /// The strings of a key, and which of them a tuple has: `None` if it is null; `None` if the key is not of strings.
    pub(crate) fn codes(&self, key: usize) -> Option<(&Dictionary, impl Fn(usize) -> Option<u32>)> {
        let (strings, layout) = (self.strings[key].as_ref()?, self.layout.keys[key]);
        let code = move |tuple: usize| {
            let tuple = &self.tuples[tuple * self.layout.width..(tuple + 1) * self.layout.width];
            (!layout.is_null(tuple)).then(|| layout.low.get(tuple) as u32)
        };
        Some((&strings.names, code))
    }

    /// The lower bits of a tuple's value for a key.
    pub(crate) fn low_bits(&self, key: usize, tuple: usize) -> u64 {
        self.layout.keys[key].low.get(&self.tuples[tuple * self.layout.width..])
    }

    /// Replaces `numbers` by those of a key's strings, if these come as bytes: 0 where they are null.
    pub(crate) fn number_strings(
        &mut self,
        key: usize,
        column: &Column<'_>,
        numbers: &mut Vec<u32>,
    ) -> Result<(), BatchError> {
        numbers.clear();
        let (Data::Bytes(values), Some(strings)) = (column.data, &mut self.strings[key]) else { return Ok(()) };
        match column.validity.filter(|validity| validity.count_nulls() > 0) {
            None => _ = strings.number_all(Level::best(), values, numbers)?,
            Some(validity) => {
                let number = |(string, valid)| if valid { strings.number(string) } else { 0 };
                numbers.extend(values.iter().zip(validity.iter()).map(number));
            }
        }
        Ok(())
    }

    /// Takes the wanted rows of one key of the next tuples.
    pub(crate) fn take(&mut self, key: usize, column: &Column<'_>, selection: Selection<'_>) -> Result<(), BatchError> {
        let mut numbers = std::mem::take(&mut self.numbers);
        let numbered = self.number_strings(key, column, &mut numbers);
        let taken = numbered.and_then(|()| self.take_numbered(key, column, &numbers, selection));
        self.numbers = numbers;
        taken
    }

    /// The same, where strings that come as bytes [have these numbers](Self::number_strings).
    pub(crate) fn take_numbered(
        &mut self,
        key: usize,
        column: &Column<'_>,
        numbers: &[u32],
        selection: Selection<'_>,
    ) -> Result<(), BatchError> {
        let (bits, layout) = (&mut self.key_columns[key], self.layout.keys[key]);
        bits.clear();
        if let Some(validity) = column.validity.filter(|validity| validity.count_nulls() > 0) {
            if layout.null.is_none() {
                return Err(BatchError("it has nulls in a column without"));
            }
            bits.nulls.extend(validity.iter().map(|value| !value));
        }
        match (column.data, layout.kind, &mut self.strings[key]) {
            (Data::Integers(values), KeyKind::Integers { min, span }, _) => {
                bits.take_integers(values, min, span, layout.kind.is_wide())?;
            }
            (Data::Floats(values), KeyKind::Floats, _) => bits.low.extend(values.iter().map(|&value| float_key(value))),
            (Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }, KeyKind::Strings, Some(strings)) => {
                self.codes.clear();
                codes_of(column, &mut self.codes);
                bits.low.extend(self.codes.iter().map(|&code| u64::from(code)));
                bits.zero_nulls();
                if dictionary.is_empty() && !bits.nulls.is_empty() && bits.nulls.iter().all(|&null| null) {
                    // Codes of nulls need no dictionary.
                } else {
                    strings.translate(dictionary, &mut bits.low)?;
                }
            }
            (Data::Bytes(_), KeyKind::Strings, _) => bits.low.extend(numbers.iter().map(|&number| u64::from(number))),
            (Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) | Data::Integers(_) | Data::Floats(_), _, _) => {
                return Err(BatchError("a key is of another type than its column"));
            }
        }
        bits.zero_nulls();
        if let Selection::Some(mask, _) = selection {
            keep(&mut bits.low, mask);
            keep(&mut bits.high, mask);
            keep(&mut bits.nulls, mask);
        }
        Ok(())
    }

    /// Takes all tuples of values in these ranges, that of the last key changing first; `false` if there are some
    /// already, or the keys cannot have these values. Strings are those of the dictionaries of `keys`, and their values
    /// are codes.
    pub(crate) fn take_all(&mut self, keys: &[Column<'_>], ranges: &[Range]) -> bool {
        let fits = |(key, range): (&KeyLayout, &Range)| {
            let ((low, high), (min, span)) = (range.bounds(), key.kind.integers());
            min <= low && high.wrapping_sub(min) as u128 <= span
        };
        if !self.tuples.is_empty() || !self.layout.keys.iter().zip(ranges).all(fits) {
            return false;
        }
        for (strings, key) in self.strings.iter_mut().zip(keys) {
            if let (Some(strings), Some(dictionary)) = (strings, key.dictionary()) {
                strings.learn(dictionary);
            }
        }
        let width = self.layout.width;
        let mut tuples = vec![0; width];
        for (key, range) in self.layout.keys.iter().zip(ranges) {
            let (min, _) = key.kind.integers();
            let longer = Vec::with_capacity(tuples.len() * range.radix() as usize);
            let shorter = std::mem::replace(&mut tuples, longer);
            for tuple in shorter.chunks_exact(width) {
                for value in range.values() {
                    let end = tuples.len();
                    tuples.extend_from_slice(tuple);
                    key.set(&mut tuples[end..], value.map(|value| i128::from(value).wrapping_sub(min) as u128));
                }
            }
        }
        (self.tuples, self.index) = (tuples, None);
        true
    }

    /// Takes strings as one key of the next tuples.
    pub(crate) fn take_strings<'a>(&mut self, key: usize, strings: impl Iterator<Item = &'a [u8]>) {
        let bits = &mut self.key_columns[key];
        bits.clear();
        if let Some(known) = &mut self.strings[key] {
            bits.low.extend(strings.map(|string| u64::from(known.number(string))));
        }
    }

    /// Replaces `numbers` by those of the tuples that were taken, key by key, some of which may be new.
    pub(crate) fn number(&mut self, numbers: &mut Vec<u32>) {
        let (rows, width) = (self.key_columns[0].low.len(), self.layout.width);
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        packed.resize(rows * width, 0);
        self.pack(&mut packed);
        let mut index = self.index.take().unwrap_or_else(|| TupleIndex::of(&self.tuples));
        index.number_all(&packed, width, &mut self.tuples, numbers);
        self.index = Some(index);
        self.packed = packed;
    }

    /// Puts the values of all keys into tuples, which are all 0 before.
    fn pack(&self, tuples: &mut [u64]) {
        for (bits, key) in self.key_columns.iter().zip(&self.layout.keys) {
            let mut put = |words: &[u64], place: super::layout::BitRange| {
                let tuples = tuples.chunks_exact_mut(self.layout.width);
                tuples.zip(words).for_each(|(tuple, &word)| place.set(tuple, word));
            };
            put(&bits.low, key.low);
            if let Some(high) = key.high {
                put(&bits.high, high);
            }
            if let (Some(null), false) = (key.null, bits.nulls.is_empty()) {
                let tuples = tuples.chunks_exact_mut(self.layout.width);
                tuples.zip(&bits.nulls).for_each(|(tuple, &is_null)| null.set(tuple, is_null.into()));
            }
        }
    }

    /// Takes the tuples of another set of the same types. Returns the number that each has here.
    pub(crate) fn merge(&mut self, other: &Self) -> Vec<u32> {
        self.merge_with(other, |_, _| {})
    }

    /// The same, each tuple being changed before. Those at the end have no number if the query is interrupted.
    pub(crate) fn merge_with(&mut self, other: &Self, change: impl Fn(&Layout, &mut [u64])) -> Vec<u32> {
        let codes: Vec<Option<Vec<u32>>> = self
            .strings
            .iter_mut()
            .zip(&other.strings)
            .map(|(ours, theirs)| match (ours, theirs) {
                (Some(ours), Some(theirs)) if ours.names != theirs.names => Some(ours.numbers_of(&theirs.names)),
                _ => None,
            })
            .collect();
        let mut tuples = other.tuples.clone();
        for tuple in tuples.chunks_exact_mut(self.layout.width) {
            for (key, codes) in self.layout.keys.iter().zip(&codes) {
                if let (Some(codes), false) = (codes, key.is_null(tuple)) {
                    key.replace(tuple, codes[key.low.get(tuple) as usize].into());
                }
            }
            change(&self.layout, tuple);
        }
        let mut numbers = Vec::with_capacity(other.len());
        let mut index = self.index.take().unwrap_or_else(|| TupleIndex::of(&self.tuples));
        let mut of_some = Vec::new();
        for some in tuples.chunks(self.layout.width * TOGETHER) {
            if interrupt::check().is_err() {
                break;
            }
            index.number_all(some, self.layout.width, &mut self.tuples, &mut of_some);
            numbers.extend_from_slice(&of_some);
        }
        self.index = Some(index);
        numbers
    }

    /// These tuples only, in their order.
    pub(crate) fn pick(&self, tuples: &[u32]) -> Self {
        let mut taken = Self::new(&self.types);
        for &tuple in tuples {
            let start = tuple as usize * self.layout.width;
            taken.tuples.extend_from_slice(&self.tuples[start..start + self.layout.width]);
        }
        taken.take_strings_of(self);
        taken
    }

    /// Takes the strings of the tuples, whose codes are those of another set so far: no more of them than there are.
    fn take_strings_of(&mut self, other: &Self) {
        let Self { layout, strings, tuples, .. } = self;
        for ((ours, theirs), key) in strings.iter_mut().zip(&other.strings).zip(&layout.keys) {
            let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
            let (mut names, mut codes) = (Dictionary::new(), HashMap::<u64, u64>::new());
            for tuple in tuples.chunks_exact_mut(layout.width).filter(|tuple| !key.is_null(tuple)) {
                let code = key.low.get(tuple);
                let ours = *codes.entry(code).or_insert_with(|| names.push(theirs.names.get(code as u32)).into());
                key.replace(tuple, ours);
            }
            *ours = Strings::of(names);
        }
    }

    /// Those tuples, changed, of which `change` says that they are wanted. They must stay distinct.
    pub(crate) fn take_tuples(&self, change: impl Fn(&Layout, &mut [u64]) -> bool) -> Self {
        let mut taken = Self::new(&self.types);
        for tuple in self.tuples.chunks_exact(self.layout.width) {
            let mut tuple = tuple.to_vec();
            if change(&self.layout, &mut tuple) {
                taken.tuples.extend_from_slice(&tuple);
            }
        }
        taken.take_strings_of(self);
        taken
    }

    /// Whether another set has the same tuples under the same numbers.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same = |(ours, theirs): (&Strings, &Strings)| ours.names == theirs.names;
        let pairs = self.strings.iter().flatten().zip(other.strings.iter().flatten());
        self.tuples == other.tuples && { pairs }.all(same)
    }
}

impl Strings {
    /// Our number of each of these names.
    fn numbers_of(&mut self, names: &Dictionary) -> Vec<u32> {
        names.iter().map(|name| self.number(name)).collect()
    }
}
