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
            _ => Written::Strings { codes: Vec::new(), checked: Vec::new() },
        };
        Box::new(TextEncoder {
            columns: self.columns.iter().map(column).collect(),
            separator: self.separator,
            rows: 0,
            text: Vec::new(),
            cuts: Vec::new(),
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
}

/// What is needed to write one column.
enum Written {
    Strings {
        /// The codes of the batch, row by row.
        codes: Vec<u32>,
        /// For each code, whether its string is known to be fit to be written.
        checked: Vec<bool>,
    },
    Numbers(ShortNumbers),
}

impl Sink for TextEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let last = self.columns.len() - 1;
        for (index, (written, column)) in self.columns.iter_mut().zip(batch.columns).enumerate() {
            if let (Written::Strings { codes, checked }, Some(dictionary)) = (written, column.dictionary()) {
                codes.clear();
                batch::codes_of(column, codes);
                checked.resize(dictionary.len(), false);
                check(codes, dictionary, checked, |name| fits(name, self.separator, index == last))?;
            }
        }
        for row in 0..batch.rows {
            for (index, (written, column)) in self.columns.iter().zip(batch.columns).enumerate() {
                match (written, column) {
                    (Written::Numbers(short), Column::Values(values)) => short.write(values.get(row), &mut self.text),
                    (Written::Strings { codes, .. }, column) => {
                        if let Some(dictionary) = column.dictionary() {
                            self.text.extend_from_slice(dictionary.get(codes[row]));
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
        Ok(Part {
            rows: std::mem::take(&mut self.rows),
            bytes,
            cuts: std::mem::take(&mut self.cuts),
            meta: Box::new(()),
        })
    }
}

/// Checks each string among `codes` that was not checked yet.
fn check(codes: &[u32], dictionary: &Dictionary, checked: &mut [bool], fits: impl Fn(&[u8]) -> bool) -> Result<()> {
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
        }
    }
    Ok(())
}

/// Whether a string, read back, would be the same.
fn fits(name: &[u8], separator: u8, last: bool) -> bool {
    let broken = name.is_empty() || name.iter().any(|&byte| byte == separator || byte == b'\n' || byte == 0);
    !(broken || last && name.ends_with(b"\r"))
}

/// Writes decimals, those near zero from a table: formatting would take most of the time.
struct ShortNumbers {
    scale: u8,
    /// For each number from -[`ShortNumbers::REACH`]: its text, and how many bytes of it count.
    texts: Vec<([u8; 8], u8)>,
}

impl ShortNumbers {
    /// Far enough for a temperature in tenths.
    const REACH: i64 = 2048;

    fn new(scale: u8) -> Self {
        let mut texts = Vec::new();
        for number in -Self::REACH..Self::REACH {
            let mut text = Vec::new();
            decimal::format(number.into(), scale, &mut text);
            let mut padded = [0; 8];
            match padded.get_mut(..text.len()) {
                Some(start) => start.copy_from_slice(&text),
                // At a larger scale even a small number has many digits.
                None => return Self { scale, texts: Vec::new() },
            }
            texts.push((padded, text.len() as u8));
        }
        Self { scale, texts }
    }

    #[inline]
    fn write(&self, number: i64, out: &mut Vec<u8>) {
        let index = usize::try_from(number.saturating_add(Self::REACH)).unwrap_or(usize::MAX);
        match self.texts.get(index) {
            Some((text, length)) => {
                let end = out.len() + usize::from(*length);
                out.extend_from_slice(text);
                out.truncate(end);
            }
            None => decimal::format(number.into(), self.scale, out),
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
