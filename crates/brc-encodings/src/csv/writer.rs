//! Writes rows as text.

use crate::compressed::note_cut;
use crate::text::ShortNumbers;
use brc_core::{
    Batch, BatchWriter, Column, Cut, DataType, Dictionary, Error, Part, PartEncoder, Result, Schema, Sink, Summary,
    batch,
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
