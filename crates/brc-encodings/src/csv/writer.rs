//! Writes rows as text.

use crate::compressed::note_cut;
use brc_core::{
    Batch, BatchWriter, Column, Cut, DataType, Dictionary, Error, Part, PartEncoder, Result, Schema, Sink, Summary,
    batch, decimal,
};

pub(super) struct TextWriter {
    columns: Vec<DataType>,
    separator: u8,
}

impl TextWriter {
    pub(super) fn new(schema: &Schema, separator: u8) -> Self {
        Self { columns: schema.fields().iter().map(|field| field.data_type).collect(), separator }
    }
}

impl BatchWriter for TextWriter {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let column = |data_type: &DataType| match data_type {
            DataType::Decimal { scale } => Written::Numbers(ShortNumbers::new(*scale)),
            _ => Written::Strings { codes: Vec::new(), checked: Vec::new(), cells: Vec::new() },
        };
        Box::new(TextEncoder {
            columns: self.columns.iter().map(column).collect(),
            separator: self.separator,
            rows: 0,
            text: Vec::new(),
            cuts: Vec::new(),
            size: 0,
        })
    }

    fn start(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn append(&mut self, _: &mut Part) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

struct TextEncoder {
    columns: Vec<Written>,
    separator: u8,
    rows: u64,
    text: Vec<u8>,
    cuts: Vec<Cut>,
    /// The size of the part before, which the next one will be like.
    size: usize,
}

/// What is written of a string, if that is short.
type Cell = ShortText<32>;

/// So many strings of a column have cells: more would not stay in the second-level cache.
const MOST_CELLS: usize = 16 << 10;

/// What is needed to write one column.
enum Written {
    Strings {
        /// The codes of the batch, row by row.
        codes: Vec<u32>,
        /// For each code, whether its string is known to be fit to be written.
        checked: Vec<bool>,
        /// The strings of the first codes that were checked.
        cells: Vec<Cell>,
    },
    Numbers(ShortNumbers),
}

impl Sink for TextEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let last = self.columns.len() - 1;
        for (index, (written, column)) in self.columns.iter_mut().zip(batch.columns).enumerate() {
            if let (Written::Strings { codes, checked, cells }, Some(dictionary)) = (written, column.dictionary()) {
                codes.clear();
                batch::codes_of(column, codes);
                checked.resize(dictionary.len(), false);
                cells.resize(dictionary.len().min(MOST_CELLS), Cell::NONE);
                check(codes, dictionary, checked, cells, |name| fits(name, self.separator, index == last))?;
            }
        }
        if self.text.is_empty() {
            self.text.reserve(self.size + self.size / 16);
        }
        for row in 0..batch.rows {
            for (index, (written, column)) in self.columns.iter().zip(batch.columns).enumerate() {
                match (written, column) {
                    (Written::Numbers(short), Column::Values(values)) => short.write(values.get(row), &mut self.text),
                    (Written::Strings { codes, cells, .. }, column) => {
                        let code = codes[row];
                        if !cells.get(code as usize).is_some_and(|cell| cell.write(&mut self.text))
                            && let Some(dictionary) = column.dictionary()
                        {
                            self.text.extend_from_slice(dictionary.get(code));
                        }
                    }
                    (Written::Numbers(_), _) => {
                        return Err(Error::Usage("a batch is not of the table's columns".into()));
                    }
                }
                self.text.push(if index == last { b'\n' } else { self.separator });
            }
            note_cut(&mut self.cuts, self.text.len(), self.rows + row as u64 + 1);
        }
        self.rows += batch.rows as u64;
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        Err(Error::Usage("a summary cannot be written as text: it has no rows".into()))
    }
}

impl PartEncoder for TextEncoder {
    fn finish(&mut self) -> Result<Part> {
        let bytes = std::mem::take(&mut self.text);
        self.size = bytes.len();
        Ok(Part {
            rows: std::mem::take(&mut self.rows),
            bytes,
            cuts: std::mem::take(&mut self.cuts),
            meta: Box::new(()),
        })
    }
}

/// Checks each string among `codes` that was not checked yet.
fn check(
    codes: &[u32],
    dictionary: &Dictionary,
    checked: &mut [bool],
    cells: &mut [Cell],
    fits: impl Fn(&[u8]) -> bool,
) -> Result<()> {
    for &code in codes {
        if !checked[code as usize] {
            let name = dictionary.get(code);
            if !fits(name) {
                return Err(Error::Usage(format!(
                    "'{}' cannot be written as text: it is empty, or contains the separator, a line end or NUL",
                    name.escape_ascii()
                )));
            }
            checked[code as usize] = true;
            if let Some(cell) = cells.get_mut(code as usize) {
                *cell = Cell::of(name);
            }
        }
    }
    Ok(())
}

/// Whether a string, read back, would be the same.
fn fits(name: &[u8], separator: u8, last: bool) -> bool {
    let broken = name.is_empty() || name.iter().any(|&byte| byte == separator || byte == b'\n' || byte == 0);
    !(broken || last && name.ends_with(b"\r"))
}

/// A text of at most `N` bytes, written by copying all `N`: many times faster than copying as many as there are.
#[derive(Debug, Clone, Copy)]
struct ShortText<const N: usize> {
    padded: [u8; N],
    /// More than `N` if there is none, or it is too long.
    length: u8,
}

impl<const N: usize> ShortText<N> {
    const NONE: Self = Self { padded: [0; N], length: u8::MAX };

    fn of(text: &[u8]) -> Self {
        let mut padded = [0; N];
        match padded.get_mut(..text.len()) {
            Some(start) => {
                start.copy_from_slice(text);
                Self { padded, length: text.len() as u8 }
            }
            None => Self::NONE,
        }
    }

    /// Appends the text, or returns false if it is too long.
    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> bool {
        let is_short = usize::from(self.length) <= N;
        if is_short {
            let end = out.len() + usize::from(self.length);
            out.extend_from_slice(&self.padded);
            out.truncate(end);
        }
        is_short
    }
}

/// Writes decimals, those near zero from a table: formatting would take most of the time.
struct ShortNumbers {
    scale: u8,
    /// For each number from -[`ShortNumbers::REACH`], its text.
    texts: Vec<ShortText<8>>,
}

impl ShortNumbers {
    /// Far enough for a temperature in tenths.
    const REACH: i64 = 2048;

    fn new(scale: u8) -> Self {
        let mut texts = Vec::new();
        for number in -Self::REACH..Self::REACH {
            let mut text = Vec::new();
            decimal::format(number.into(), scale, &mut text);
            texts.push(ShortText::of(&text));
        }
        Self { scale, texts }
    }

    #[inline]
    fn write(&self, number: i64, out: &mut Vec<u8>) {
        let index = usize::try_from(number.saturating_add(Self::REACH)).unwrap_or(usize::MAX);
        // At a larger scale even a small number has many digits.
        if !self.texts.get(index).is_some_and(|text| text.write(out)) {
            decimal::format(number.into(), self.scale, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_the_table_are_those_that_are_formatted() {
        for scale in [0, 1, 2, 5, 6, 18] {
            let short = ShortNumbers::new(scale);
            for number in (-2100..2100).chain([i64::MIN, i64::MAX, 123_456_789]) {
                let mut text = Vec::new();
                short.write(number, &mut text);
                assert_eq!(String::from_utf8(text).unwrap(), decimal::to_string(number.into(), scale));
            }
        }
    }
}
