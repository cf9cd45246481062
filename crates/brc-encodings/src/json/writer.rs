//! Writes rows as JSON: the keys in the order of the columns, no spaces, numbers with all decimals of their columns.

use crate::compressed::note_cut;
use crate::frames::written;
use crate::refused::Refused;
use crate::text::{LONGEST_LINE, ShortNumbers, is_too_long};
use brc_core::{
    Batch, BatchWriter, Column, Cut, DataType, Dictionary, Error, HoldFault, Part, PartEncoder, Result, Schema, Sink,
    Summary, batch,
};

pub(super) struct JsonWriter {
    /// The encoding's name.
    name: &'static str,
    schema: Schema,
}

impl JsonWriter {
    pub(super) fn new(name: &'static str, schema: &Schema) -> Self {
        Self { name, schema: schema.clone() }
    }
}

impl BatchWriter for JsonWriter {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let fields = self.schema.fields();
        let key = |index: usize| fields.get(index).map(|field| format!("{}:", serde_json::Value::from(&*field.name)));
        let mut columns = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let before = if index == 0 { format!("{{{}", key(0).unwrap_or_default()) } else { String::new() };
            let (end, rest) = key(index + 1).map_or((b'}', "\n".to_owned()), |next| (b',', next));
            columns.push(match field.data_type {
                DataType::Decimal { scale } => {
                    Written::Numbers { before, numbers: ShortNumbers::new(scale, end), after: rest }
                }
                _ => Written::Strings {
                    codes: Vec::new(),
                    texts: Texts::new(before, format!("{}{rest}", char::from(end))),
                },
            });
        }
        let (name, schema) = (self.name, self.schema.clone());
        Box::new(JsonEncoder { name, schema, columns, rows: 0, text: Vec::new(), cuts: Vec::new() })
    }
}

struct JsonEncoder {
    name: &'static str,
    schema: Schema,
    columns: Vec<Written>,
    rows: u64,
    text: Vec<u8>,
    cuts: Vec<Cut>,
}

/// What is needed to write one column: its values with the keys, commas and braces around them. A key belongs to the
/// column before.
enum Written {
    Strings {
        /// The codes of the batch, row by row.
        codes: Vec<u32>,
        texts: Texts,
    },
    Numbers {
        before: String,
        numbers: ShortNumbers,
        /// What stands behind a number and the one byte that the numbers have with them.
        after: String,
    },
}

impl JsonEncoder {
    /// Gets ready for the rows of a batch, up to the first one with a string that cannot be written.
    fn prepare(&mut self, batch: &Batch<'_>) -> Option<Refused> {
        let columns = self.columns.iter_mut().zip(batch.columns).enumerate();
        Refused::first(columns.filter_map(|(index, (written, column))| {
            let (Written::Strings { codes, texts }, Some(dictionary)) = (written, column.dictionary()) else {
                return None;
            };
            codes.clear();
            batch::codes_of(column, codes);
            let code = texts.add(codes, dictionary).err()?;
            Some(Refused::string(index, column, code, HoldFault::NotUtf8))
        }))
    }

    /// Writes the first rows of a batch.
    fn write(&mut self, batch: &Batch<'_>, rows: usize) -> Result<()> {
        for row in 0..rows {
            let start = self.text.len();
            for (written, column) in self.columns.iter().zip(batch.columns) {
                match (written, column) {
                    (Written::Numbers { before, numbers, after }, Column::Values(values)) => {
                        self.text.extend_from_slice(before.as_bytes());
                        numbers.write(values.get(row), &mut self.text);
                        self.text.extend_from_slice(after.as_bytes());
                    }
                    (Written::Strings { codes, texts }, Column::Codes { .. } | Column::Runs { .. }) => {
                        texts.write(codes[row], &mut self.text);
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

impl Sink for JsonEncoder {
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
        Err(Error::Usage("a summary cannot be written as json: it has no rows".into()))
    }
}

impl PartEncoder for JsonEncoder {
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

/// The strings of a column with what stands around them: escaped once, however many rows have them.
struct Texts {
    before: String,
    after: String,
    /// All of them, and some bytes more, so that as many can be copied from any place.
    bytes: Vec<u8>,
    /// Where among the bytes the text of a code lies; empty if no row had it yet.
    places: Vec<(usize, usize)>,
}

impl Texts {
    /// How many bytes are copied at once, of which the rest is overwritten next: that takes no call.
    const ROOM: usize = 64;

    fn new(before: String, after: String) -> Self {
        Self { before, after, bytes: vec![0; Self::ROOM], places: Vec::new() }
    }

    /// Sees to it that all these codes have their texts.
    ///
    /// # Errors
    /// The first code whose string is not UTF-8.
    fn add(&mut self, codes: &[u32], dictionary: &Dictionary) -> Result<(), u32> {
        self.places.resize(dictionary.len(), (0, 0));
        for &code in codes {
            let place = &mut self.places[code as usize];
            if place.1 == 0 {
                let value = std::str::from_utf8(dictionary.get(code)).map_err(|_| code)?;
                let start = self.bytes.len() - Self::ROOM;
                self.bytes.truncate(start);
                self.bytes.extend_from_slice(self.before.as_bytes());
                written(serde_json::to_writer(&mut self.bytes, value));
                self.bytes.extend_from_slice(self.after.as_bytes());
                *place = (start, self.bytes.len());
                self.bytes.resize(self.bytes.len() + Self::ROOM, 0);
            }
        }
        Ok(())
    }

    #[inline]
    fn write(&self, code: u32, out: &mut Vec<u8>) {
        let (start, end) = self.places[code as usize];
        match self.bytes[start..].first_chunk::<{ Self::ROOM }>() {
            Some(chunk) if end - start <= Self::ROOM => {
                let end = out.len() + end - start;
                out.extend_from_slice(chunk);
                out.truncate(end);
            }
            _ => out.extend_from_slice(&self.bytes[start..end]),
        }
    }
}
