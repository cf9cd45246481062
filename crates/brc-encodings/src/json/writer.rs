//! Writes rows as JSON: the keys in the order of the columns, no spaces, numbers with all decimals of their columns.

use crate::compressed::note_cut;
use crate::text::{LONGEST_LINE, ShortNumbers};
use brc_core::{
    Batch, BatchWriter, Column, Cut, DataType, Dictionary, Error, Part, PartEncoder, Result, Schema, Sink, Summary,
    batch,
};

pub(super) struct JsonWriter {
    schema: Schema,
}

impl JsonWriter {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { schema: schema.clone() }
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
        Box::new(JsonEncoder { columns, rows: 0, text: Vec::new(), cuts: Vec::new() })
    }
}

struct JsonEncoder {
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

impl Sink for JsonEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        for (written, column) in self.columns.iter_mut().zip(batch.columns) {
            if let (Written::Strings { codes, texts }, Some(dictionary)) = (written, column.dictionary()) {
                codes.clear();
                batch::codes_of(column, codes);
                texts.add(codes, dictionary)?;
            }
        }
        for row in 0..batch.rows {
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
            // The line feed is not part of the line.
            if self.text.len() - start - 1 > LONGEST_LINE {
                return Err(Error::Usage(format!(
                    "a row cannot be written as json: its line would be longer than {LONGEST_LINE} bytes"
                )));
            }
            note_cut(&mut self.cuts, self.text.len(), self.rows + row as u64 + 1);
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
    fn add(&mut self, codes: &[u32], dictionary: &Dictionary) -> Result<()> {
        self.places.resize(dictionary.len(), (0, 0));
        for &code in codes {
            let place = &mut self.places[code as usize];
            if place.1 == 0 {
                let value = escaped(dictionary.get(code))?;
                let start = self.bytes.len() - Self::ROOM;
                self.bytes.truncate(start);
                for part in [&self.before, &value, &self.after] {
                    self.bytes.extend_from_slice(part.as_bytes());
                }
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

/// A string as JSON.
fn escaped(name: &[u8]) -> Result<String> {
    let shown = &name[..name.len().min(100)];
    let refused =
        |reason: &str| Error::Usage(format!("'{}' cannot be written as json: {reason}", shown.escape_ascii()));
    let text = std::str::from_utf8(name).map_err(|_| refused("it is not UTF-8"))?;
    serde_json::to_string(text).map_err(|error| refused(&error.to_string()))
}
