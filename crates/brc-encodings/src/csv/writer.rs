//! Writes rows as text.

use crate::compressed::note_cut;
use crate::text::{LONGEST_LINE, ShortNumbers};
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
        let last = self.columns.len() - 1;
        let column = |(index, data_type): (usize, &DataType)| {
            let end = if index == last { b'\n' } else { self.separator };
            match data_type {
                DataType::Decimal { scale } => Written::Numbers(ShortNumbers::new(*scale, end)),
                _ => Written::Strings(ShortTexts::new(self.separator, end)),
            }
        };
        Box::new(TextEncoder {
            columns: self.columns.iter().enumerate().map(column).collect(),
            rows: 0,
            text: Vec::new(),
            cuts: Vec::new(),
        })
    }
}

struct TextEncoder {
    columns: Vec<Written>,
    rows: u64,
    text: Vec<u8>,
    cuts: Vec<Cut>,
}

/// What is needed to write one column.
enum Written {
    Strings(ShortTexts),
    Numbers(ShortNumbers),
}

impl Sink for TextEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        for (written, column) in self.columns.iter_mut().zip(batch.columns) {
            if let (Written::Strings(texts), Some(dictionary)) = (written, column.dictionary()) {
                texts.prepare(column, dictionary)?;
            }
        }
        for row in 0..batch.rows {
            for (written, column) in self.columns.iter().zip(batch.columns) {
                match (written, column) {
                    (Written::Numbers(short), Column::Values(values)) => short.write(values.get(row), &mut self.text),
                    (Written::Strings(texts), Column::Codes { dictionary, .. } | Column::Runs { dictionary, .. }) => {
                        texts.write(row, dictionary, &mut self.text);
                    }
                    _ => return Err(Error::Usage("a batch is not of the table's columns".into())),
                }
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
        Ok(Part {
            rows: std::mem::take(&mut self.rows),
            bytes: std::mem::take(&mut self.text),
            cuts: std::mem::take(&mut self.cuts),
            meta: Box::new(()),
        })
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.text);
    }
}

/// Writes strings with what stands behind them. Short ones are copied as a fixed number of bytes of which the rest is
/// overwritten next: that takes no call.
struct ShortTexts {
    separator: u8,
    end: u8,
    /// The codes of the batch, row by row.
    codes: Vec<u32>,
    /// For each code its text with its end, if that is short, and in the last byte how long it is.
    texts: Vec<[u8; ShortTexts::ROOM + 1]>,
}

impl ShortTexts {
    /// How long a text with its end may be to be copied so.
    const ROOM: usize = 31;
    /// The length of a text that was not looked at yet.
    const UNKNOWN: u8 = u8::MAX;
    /// The length of a text that is longer.
    const LONG: u8 = u8::MAX - 1;

    fn new(separator: u8, end: u8) -> Self {
        Self { separator, end, codes: Vec::new(), texts: Vec::new() }
    }

    /// Gets ready for the rows of a batch.
    fn prepare(&mut self, column: &Column<'_>, dictionary: &Dictionary) -> Result<()> {
        self.codes.clear();
        batch::codes_of(column, &mut self.codes);
        self.texts.resize(dictionary.len(), [Self::UNKNOWN; Self::ROOM + 1]);
        for &code in &self.codes {
            let text = &mut self.texts[code as usize];
            if text[Self::ROOM] == Self::UNKNOWN {
                let name = dictionary.get(code);
                if !fits(name, self.separator, self.end) {
                    return Err(Error::Usage(format!(
                        "'{}' cannot be written as text: it is empty or too long, or contains the separator, a line end or \
                         NUL",
                        name[..name.len().min(100)].escape_ascii()
                    )));
                }
                if name.len() < Self::ROOM {
                    text[..name.len()].copy_from_slice(name);
                    text[name.len()] = self.end;
                    text[Self::ROOM] = name.len() as u8 + 1;
                } else {
                    text[Self::ROOM] = Self::LONG;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn write(&self, row: usize, dictionary: &Dictionary, out: &mut Vec<u8>) {
        let code = self.codes[row];
        let text = &self.texts[code as usize];
        if text[Self::ROOM] == Self::LONG {
            out.extend_from_slice(dictionary.get(code));
            out.push(self.end);
        } else {
            let end = out.len() + usize::from(text[Self::ROOM]);
            out.extend_from_slice(text);
            out.truncate(end);
        }
    }
}

/// Whether a string, read back, would be the same.
fn fits(name: &[u8], separator: u8, end: u8) -> bool {
    let strange = |&byte: &u8| byte == separator || byte == b'\n' || byte == 0;
    let broken = name.is_empty() || name.len() > LONGEST_LINE || name.iter().any(strange);
    !(broken || end == b'\n' && name.ends_with(b"\r"))
}
