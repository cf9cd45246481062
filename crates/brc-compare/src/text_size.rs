//! Computes the size of a table as text, to which the sizes of all its files are compared.
//!
//! The size is computed without writing text, because a table may have strings that text cannot represent.

use brc_core::{
    Batch, Column, Data, LogicalType, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split, Table, Value,
    Worker, batch::codes_of, scan,
};

/// The rows of a table, and its size as text in bytes, counting one delimiter or line end per value.
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
    /// A buffer for the codes of a column.
    codes: Vec<u32>,
    rows: u64,
    bytes: u64,
}

impl TextSize {
    fn new(schema: &Schema) -> Self {
        let types = schema.fields().iter().map(|field| field.logical_type).collect();
        Self { types, codes: Vec::new(), rows: 0, bytes: 0 }
    }
}

/// The text length of the values of a column in bytes; nulls are empty. `codes` is a scratch buffer.
fn column_bytes(column: &Column<'_>, rows: usize, logical_type: LogicalType, codes: &mut Vec<u32>) -> u64 {
    let sum = |length: &dyn Fn(usize) -> usize| -> u64 {
        (0..rows).filter(|&row| column.is_valid(row)).map(|row| length(row) as u64).sum()
    };
    match column.data {
        Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. } => {
            codes.clear();
            codes_of(column, codes);
            sum(&|row| dictionary.get(codes[row]).len())
        }
        Data::Bytes(strings) => sum(&|row| strings.get(row).len()),
        Data::Integers(values) if logical_type.is_64_bit_number() => {
            sum(&|row| number_length(values.get(row), logical_type.scale()))
        }
        Data::Integers(values) => sum(&|row| Value::Integer(values.get(row)).to_text(logical_type).len()),
        Data::Floats(values) => sum(&|row| Value::Float(values[row]).to_text(logical_type).len()),
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
        for (column, &logical_type) in batch.columns.iter().zip(&self.types) {
            self.bytes += column_bytes(column, batch.rows, logical_type, &mut self.codes) + batch.rows as u64;
        }
        Ok(())
    }
}

/// The text length of a decimal in bytes.
fn number_length(value: i128, scale: u8) -> usize {
    let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
    digits.max(u32::from(scale) + 1) as usize + usize::from(scale > 0) + usize::from(value < 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{BitmapBuffer, Dictionary, Integers, Run, decimal};

    #[test]
    fn numbers_are_as_long_as_their_text() {
        let powers = (0..19).map(|exponent| 10i64.pow(exponent));
        let around = powers.flat_map(|power| [power - 1, power, 1 - power, -power]);
        for value in around.chain([i64::MIN, i64::MAX]) {
            for scale in 0..=18 {
                let text = decimal::to_string(value.into(), scale);
                assert_eq!(number_length(value.into(), scale), text.len(), "{text}");
            }
        }
    }

    #[test]
    fn the_size_of_a_table_is_that_of_its_text() {
        let header = "day,at,clock,open,n,x\n";
        let rows =
            "2024-01-31,2024-01-31 23:59:59,23:59:59,false,12,1.5\n1999-12-01,2024-02-01 00:00:00,,true,-7,-10.25\n";
        let zoned = "2024-01-31 23:59:59.500Z,1\n2024-01-31 23:59:59.250Z,2\n";
        for (header, rows) in
            [("", "Abha;-0.1\nŻory;12.3\nB;100.0\n"), (header, &rows.replace("1.5", "1.50")), ("at,n\n", zoned)]
        {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("t.txt");
            std::fs::write(&path, format!("{header}{rows}")).unwrap();
            let options = brc_encodings::OpenOptions::default();
            let table = brc_encodings::text().open(brc_encodings::Input::open(&path).unwrap(), &options).unwrap();
            brc_core::read_rows(table.as_ref(), 1, &Progress::default()).unwrap();
            assert_eq!(
                text_size(table.as_ref(), 1).unwrap(),
                (rows.lines().count() as u64, rows.len() as u64),
                "{rows}"
            );
        }
    }

    #[test]
    fn nulls_have_no_text_whatever_their_codes() {
        let schema = Schema::parse("s:string,t:string,n:int64").unwrap();
        let mut validity = BitmapBuffer::default();
        [true, false].into_iter().for_each(|valid| validity.push(valid));
        let (some, none) = (["Abha"].into_iter().collect::<Dictionary>(), Dictionary::default());
        let mut all_null = BitmapBuffer::default();
        [false, false].into_iter().for_each(|valid| all_null.push(valid));
        let columns = [
            Column::codes(&[0, 7], &some).with_validity(validity.bitmap()),
            Column::from(Data::Runs { runs: &[Run { code: 0, rows: 2 }], dictionary: &none })
                .with_validity(all_null.bitmap()),
            Column::integers(Integers::I64(&[25, 25])).with_validity(validity.bitmap()),
        ];
        let mut size = TextSize::new(&schema);
        size.batch(&Batch { rows: 2, columns: &columns }).unwrap();
        assert_eq!(size.bytes, "Abha;;25\n;;\n".len() as u64);
    }
}
