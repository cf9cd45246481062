//! Writes rows as text.

use crate::compressed::note_cut;
use crate::refused::Refused;
use crate::text::{LONGEST_LINE, ShortNumbers, is_too_long};
use brc_core::{
    Batch, BatchWriter, Column, Cut, DataType, Dictionary, Error, Field, HoldFault, Part, PartEncoder, Result, Schema,
    Sink, Summary, batch,
};

pub(super) struct TextWriter {
    /// The encoding's name.
    name: &'static str,
    schema: Schema,
    separator: u8,
}

impl TextWriter {
    pub(super) fn new(name: &'static str, schema: &Schema, separator: u8) -> Self {
        Self { name, schema: schema.clone(), separator }
    }
}

impl BatchWriter for TextWriter {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let fields = self.schema.fields();
        let column = |(index, field): (usize, &Field)| {
            let end = if index + 1 == fields.len() { b'\n' } else { self.separator };
            match field.data_type {
                DataType::Decimal { scale } => Written::Numbers(ShortNumbers::new(scale, end)),
                _ => Written::Strings(ShortTexts::new(self.separator, end)),
            }
        };
        Box::new(TextEncoder {
            name: self.name,
            schema: self.schema.clone(),
            columns: fields.iter().enumerate().map(column).collect(),
            rows: 0,
            text: Vec::new(),
            cuts: Vec::new(),
        })
    }
}

struct TextEncoder {
    name: &'static str,
    schema: Schema,
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

impl TextEncoder {
    /// Gets ready for the rows of a batch, up to the first one with a string that cannot be written.
    fn prepare(&mut self, batch: &Batch<'_>) -> Option<Refused> {
        let columns = self.columns.iter_mut().zip(batch.columns).enumerate();
        Refused::first(columns.filter_map(|(index, (written, column))| {
            let (Written::Strings(texts), Some(dictionary)) = (written, column.dictionary()) else { return None };
            let (code, fault) = texts.prepare(column, dictionary).err()?;
            Some(Refused::string(index, column, code, fault))
        }))
    }

    /// Writes the first rows of a batch.
    fn write(&mut self, batch: &Batch<'_>, rows: usize) -> Result<()> {
        for row in 0..rows {
            let start = self.text.len();
            for (written, column) in self.columns.iter().zip(batch.columns) {
                match (written, column) {
                    (Written::Numbers(short), Column::Values(values)) => short.write(values.get(row), &mut self.text),
                    (Written::Strings(texts), Column::Codes { dictionary, .. } | Column::Runs { dictionary, .. }) => {
                        texts.write(row, dictionary, &mut self.text);
                    }
                    _ => return Err(Error::Usage("a batch is not of the table's columns".into())),
                }
            }
            let is_cut = note_cut(&mut self.cuts, self.text.len(), self.rows + row as u64 + 1);
            if is_too_long(&self.text, start, is_cut) {
                let refused = Refused::row(row, HoldFault::LineTooLong(LONGEST_LINE));
                return Err(refused.behind(self.rows, self.name, &self.schema));
            }
        }
        Ok(())
    }
}

impl Sink for TextEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let refused = self.prepare(batch);
        // A row before the one that is refused may be too long.
        self.write(batch, refused.as_ref().map_or(batch.rows, |refused| refused.row))?;
        if let Some(refused) = refused {
            return Err(refused.behind(self.rows, self.name, &self.schema));
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
    ///
    /// # Errors
    /// The first code whose string cannot be written, and why.
    fn prepare(&mut self, column: &Column<'_>, dictionary: &Dictionary) -> Result<(), (u32, HoldFault)> {
        self.codes.clear();
        batch::codes_of(column, &mut self.codes);
        self.texts.resize(dictionary.len(), [Self::UNKNOWN; Self::ROOM + 1]);
        for &code in &self.codes {
            let text = &mut self.texts[code as usize];
            if text[Self::ROOM] == Self::UNKNOWN {
                let name = dictionary.get(code);
                if let Some(fault) = fault(name, self.separator, self.end) {
                    return Err((code, fault));
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

/// Why a string, read back, would not be the same.
fn fault(name: &[u8], separator: u8, end: u8) -> Option<HoldFault> {
    let strange = |&byte: &u8| match byte {
        b'\n' => Some(HoldFault::LineFeed),
        0 => Some(HoldFault::NulByte),
        _ if byte == separator => Some(HoldFault::Separator(separator)),
        _ => None,
    };
    match name {
        [] => Some(HoldFault::Empty),
        [.., b'\r'] if end == b'\n' => name.iter().find_map(strange).or(Some(HoldFault::CarriageReturn)),
        _ => name.iter().find_map(strange),
    }
}
