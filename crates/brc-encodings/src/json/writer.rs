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
        let mut columns = Vec::new();
        for (index, field) in self.schema.fields().iter().enumerate() {
            let start = if index == 0 { '{' } else { ',' };
            let key = format!("{start}{}:", serde_json::Value::from(field.name.as_str())).into_bytes();
            columns.push(match field.data_type {
                DataType::Decimal { scale } => Written::Numbers { key, numbers: ShortNumbers::new(scale) },
                _ => Written::Strings { codes: Vec::new(), members: Members::new(key) },
            });
        }
        Box::new(JsonEncoder { columns, rows: 0, text: Vec::new(), cuts: Vec::new() })
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

struct JsonEncoder {
    columns: Vec<Written>,
    rows: u64,
    text: Vec<u8>,
    cuts: Vec<Cut>,
}

/// What is needed to write one column.
enum Written {
    Strings {
        /// The codes of the batch, row by row.
        codes: Vec<u32>,
        members: Members,
    },
    Numbers {
        /// The key with what stands before and behind it.
        key: Vec<u8>,
        numbers: ShortNumbers,
    },
}

impl Sink for JsonEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        for (written, column) in self.columns.iter_mut().zip(batch.columns) {
            if let (Written::Strings { codes, members }, Some(dictionary)) = (written, column.dictionary()) {
                codes.clear();
                batch::codes_of(column, codes);
                members.add(codes, dictionary)?;
            }
        }
        for row in 0..batch.rows {
            let start = self.text.len();
            for (written, column) in self.columns.iter().zip(batch.columns) {
                match (written, column) {
                    (Written::Numbers { key, numbers }, Column::Values(values)) => {
                        self.text.extend_from_slice(key);
                        numbers.write(values.get(row), &mut self.text);
                    }
                    (Written::Strings { codes, members }, Column::Codes { .. } | Column::Runs { .. }) => {
                        self.text.extend_from_slice(members.get(codes[row]));
                    }
                    _ => return Err(Error::Usage("a batch is not of the table's columns".into())),
                }
            }
            self.text.extend_from_slice(b"}\n");
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
}

/// The strings of a column as they are written, each with its key: escaped once, however many rows have it.
struct Members {
    key: Vec<u8>,
    text: Vec<u8>,
    /// Where in the text the member of a code lies; empty if no row had it yet.
    places: Vec<(usize, usize)>,
}

impl Members {
    fn new(key: Vec<u8>) -> Self {
        Self { key, text: Vec::new(), places: Vec::new() }
    }

    /// Sees to it that all these codes have their members.
    fn add(&mut self, codes: &[u32], dictionary: &Dictionary) -> Result<()> {
        self.places.resize(dictionary.len(), (0, 0));
        for &code in codes {
            let place = &mut self.places[code as usize];
            if place.1 == 0 {
                let start = self.text.len();
                self.text.extend_from_slice(&self.key);
                escape(dictionary.get(code), &mut self.text)?;
                *place = (start, self.text.len());
            }
        }
        Ok(())
    }

    #[inline]
    fn get(&self, code: u32) -> &[u8] {
        let (start, end) = self.places[code as usize];
        &self.text[start..end]
    }
}

/// Appends a string as JSON.
fn escape(name: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let refused = |reason: &str| Error::Usage(format!("'{}' cannot be written as json: {reason}", name.escape_ascii()));
    let text = std::str::from_utf8(name).map_err(|_| refused("it is not UTF-8"))?;
    serde_json::to_writer(out, text).map_err(|error| refused(&error.to_string()))
}
