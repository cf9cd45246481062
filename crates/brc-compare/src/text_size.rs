//! How many bytes a table would be as text: what the sizes of all its files are compared with.
//!
//! It is reckoned, not written: a table may well have strings that text cannot hold.

use brc_core::{
    Batch, Data, Dictionary, LogicalType, Progress, Result, Run, ScanOptions, Scanned, Schema, Sink, Split, Summary,
    Table, Value, Worker, scan, uuid,
};

/// The rows of a table, and its bytes as text with one byte behind each value.
///
/// # Errors
/// If the table cannot be read.
pub(crate) fn text_size(table: &dyn Table, threads: usize) -> Result<(u64, u64)> {
    let inferred = table.inferred();
    let schema = inferred.as_deref().unwrap_or(table.schema());
    let options = ScanOptions::everything(schema);
    let new_worker = || TextSize::new(schema);
    let workers = scan(table, &options, threads, &Progress::default(), new_worker)?;
    let sum = |of: fn(&TextSize) -> u64| workers.iter().map(of).sum();
    Ok((sum(|worker| worker.rows), sum(|worker| worker.bytes)))
}

struct TextSize {
    types: Vec<LogicalType>,
    rows: u64,
    bytes: u64,
}

impl TextSize {
    fn new(schema: &Schema) -> Self {
        Self { types: schema.fields().iter().map(|field| field.logical_type).collect(), rows: 0, bytes: 0 }
    }
}

impl Worker for TextSize {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.rows += scanned.rows;
        Ok(())
    }
}

impl Sink for TextSize {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let length = |dictionary: &Dictionary, code: u32| dictionary.get(code).len() as u64;
        for (column, &logical_type) in batch.columns.iter().zip(&self.types) {
            let values: u64 = match column.data {
                Data::Codes { codes, dictionary } => codes.iter().map(|&code| length(dictionary, code)).sum(),
                Data::Runs { runs, dictionary } => {
                    runs.iter().map(|&Run { code, rows }| length(dictionary, code) * u64::from(rows)).sum()
                }
                Data::Bytes(strings) => strings.iter().map(|string| string.len() as u64).sum(),
                Data::Integers(values) if logical_type == LogicalType::Uuid => (values.len() * uuid::TEXT_BYTES) as u64,
                Data::Integers(values) => {
                    (0..values.len()).map(|row| number_length(values.get(row), logical_type.scale())).sum()
                }
                Data::Floats(values) => {
                    values.iter().map(|&value| Value::Float(value).to_text(logical_type).len() as u64).sum()
                }
            };
            self.bytes += values + batch.rows as u64;
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        // Nobody asked for any.
        Ok(())
    }
}

/// The bytes of a decimal as text.
fn number_length(value: i128, scale: u8) -> u64 {
    let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
    u64::from(digits.max(u32::from(scale) + 1)) + u64::from(scale > 0) + u64::from(value < 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::decimal;

    #[test]
    fn numbers_are_as_long_as_their_text() {
        let powers = (0..19).map(|exponent| 10i64.pow(exponent));
        let around = powers.flat_map(|power| [power - 1, power, 1 - power, -power]);
        for value in around.chain([i64::MIN, i64::MAX]) {
            for scale in 0..=18 {
                let text = decimal::to_string(value.into(), scale);
                assert_eq!(number_length(value.into(), scale), text.len() as u64, "{text}");
            }
        }
    }

    #[test]
    fn a_table_is_as_large_as_its_text() {
        let text = "Abha;-0.1\nŻory;12.3\nB;100.0\n";
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.txt");
        std::fs::write(&path, text).unwrap();
        let options = brc_encodings::OpenOptions::default();
        let table = brc_encodings::text().open(brc_encodings::Input::open(&path).unwrap(), &options).unwrap();
        assert_eq!(text_size(table.as_ref(), 1).unwrap(), (3, text.len() as u64));
    }
}
