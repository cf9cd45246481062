//! Writes rows as text.

use brc_core::{
    Batch, BatchWriter, Column, DataType, Error, Part, PartEncoder, Result, Schema, Sink, Summary, Values, batch,
    decimal,
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
        let codes = vec![Vec::new(); self.columns.len()];
        Box::new(TextEncoder {
            columns: self.columns.clone(),
            separator: self.separator,
            codes,
            rows: 0,
            text: Vec::new(),
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
    columns: Vec<DataType>,
    separator: u8,
    /// The codes of the string columns, row by row.
    codes: Vec<Vec<u32>>,
    rows: u64,
    text: Vec<u8>,
}

impl Sink for TextEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        for (codes, column) in self.codes.iter_mut().zip(batch.columns) {
            codes.clear();
            batch::codes_of(column, codes);
        }
        for row in 0..batch.rows {
            for (index, column) in batch.columns.iter().enumerate() {
                if index > 0 {
                    self.text.push(self.separator);
                }
                match column {
                    Column::Values(values) => self.number(index, values, row),
                    Column::Codes { dictionary, .. } | Column::Runs { dictionary, .. } => {
                        let name = dictionary.get(self.codes[index][row]);
                        let last = index + 1 == batch.columns.len();
                        if !fits(name, self.separator, last) {
                            return Err(Error::Usage(format!(
                                "'{}' cannot be written as text: it is empty, or contains the separator, a line end or NUL",
                                name.escape_ascii()
                            )));
                        }
                        self.text.extend_from_slice(name);
                    }
                }
            }
            self.text.push(b'\n');
        }
        self.rows += batch.rows as u64;
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("a conversion asks for rows")
    }
}

/// Whether a string, read back, would be the same.
fn fits(name: &[u8], separator: u8, last: bool) -> bool {
    let broken = name.is_empty() || name.iter().any(|&byte| byte == separator || byte == b'\n' || byte == 0);
    !(broken || last && name.ends_with(b"\r"))
}

impl TextEncoder {
    fn number(&mut self, column: usize, values: &Values<'_>, row: usize) {
        let scale = match self.columns[column] {
            DataType::Decimal { scale } => scale,
            _ => 0,
        };
        decimal::format(i128::from(values.get(row)), scale, &mut self.text);
    }
}

impl PartEncoder for TextEncoder {
    fn finish(&mut self) -> Result<Part> {
        let bytes = std::mem::take(&mut self.text);
        Ok(Part { rows: std::mem::take(&mut self.rows), bytes, meta: Box::new(()) })
    }
}
