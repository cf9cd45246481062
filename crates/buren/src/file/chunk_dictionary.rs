//! The dictionary of a column chunk, in terms of the scanner's dictionary.

use super::footer::Chunk;
use super::reader::Reader;
use super::scan_dictionary::{CodeMap, ScanDictionary};
use super::shared_dictionary::decode_block;
use crate::Malformed;
use crate::block::{BlockBuffer, Cost};
use crate::location::Location;
use crate::strings::{StringBuffer, Tokens};
use brc_core::Result;

/// The maximum number of values in a scanner's dictionary; beyond it, strings of further row groups are delivered
/// without codes, except for cluster keys, which have few values and are skipped and repeated by them.
const MAX_VALUES: usize = if cfg!(test) { 100 } else { 1 << 20 };

/// The maximum size of a scanner's dictionary in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Values of this length in bytes always get a code: a batch of expanded values might not fit.
const LONG_VALUE_BYTES: usize = 256 << 10;

pub(super) enum ChunkDictionary {
    /// The scanner's code of each value of the chunk's dictionary.
    Interned(CodeMap),
    Values(StringBuffer),
    /// The column's dictionary.
    OfFile,
}

impl Default for ChunkDictionary {
    fn default() -> Self {
        Self::Interned(CodeMap::default())
    }
}

impl ChunkDictionary {
    /// Reads the dictionary of a chunk of a column in a row group, and interns its values while the scanner's
    /// dictionary is small.
    pub(super) fn read(
        (reader, row_group, column): (&Reader, usize, usize),
        chunk: &Chunk,
        tokens: Option<&Tokens>,
        known: &mut ScanDictionary,
        buffer: &mut BlockBuffer,
        cost: &mut Cost,
    ) -> Result<Self> {
        if chunk.dictionary.is_empty() {
            return Ok(Self::default());
        }
        let (mut scratch, mut decoded, mut values) = Default::default();
        for (block, (count, stored)) in chunk.dictionary.iter().enumerate() {
            let location = Location::ChunkDictionary { row_group, column: reader.footer.name(column), block };
            buffer.load(reader.source(), stored, location, cost)?;
            decode_block(buffer.bytes(), *count, tokens, &mut scratch, &mut decoded)
                .and_then(|()| append(&decoded, &mut values))
                .map_err(|reason| reader.corrupt(location, reason))?;
        }
        let is_key = reader.row_group(row_group).cluster.is_some_and(|cluster| cluster.key == column);
        let interner = known.interner();
        let known = interner.dictionary();
        let has_room = known.len() < MAX_VALUES && known.value_bytes() < MAX_BYTES;
        if is_key || has_room || values.strings().iter().any(|value| value.len() > LONG_VALUE_BYTES) {
            Ok(Self::Interned(values.strings().iter().map(|value| interner.intern(value).0).collect()))
        } else {
            Ok(Self::Values(values))
        }
    }
}

/// Appends the values of a dictionary block, which must sort after those before.
fn append(decoded: &StringBuffer, values: &mut StringBuffer) -> std::result::Result<(), Malformed> {
    let (new, known) = (decoded.strings(), values.strings());
    if !known.is_empty() && !new.is_empty() && known.get(known.len() - 1) >= new.get(0) {
        return Err("its values are not above those of the block before".into());
    }
    if known.total_bytes() + new.total_bytes() > i32::MAX as usize {
        return Err("the dictionary has 2 GiB or more".into());
    }
    new.iter().for_each(|value| values.push(value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Key, Reader, Writer, WriterOptions};
    use brc_compress::Compressor;
    use brc_core::{BatchWriter, Comparison, Order, Predicate, ScanOptions, Schema};
    use brc_testing::{BatchSource, Cell, Collector, Delivery, Typed, collect};
    use std::io::Write;
    use std::path::Path;

    const ROWS_OF_GROUP: usize = 6000;

    /// Row groups with other strings each, of which the scanner's dictionary has room for those of the first alone.
    fn table() -> Typed {
        let text =
            |row: usize, of: usize| Cell::Bytes(format!("{:03}", row / ROWS_OF_GROUP * of + row % of).into_bytes());
        let rows = 0..3 * ROWS_OF_GROUP;
        let columns = vec![
            rows.clone().map(|row| text(row, 120)).collect(),
            rows.clone().map(|row| text(row, 150)).collect(),
            rows.map(|row| Cell::Integer((row % 7) as i128)).collect(),
        ];
        Typed { schema: Schema::parse("key:string,other:string,number:int64").unwrap(), columns }
    }

    fn file(table: &Typed) -> Reader {
        let options = WriterOptions {
            key: Key::Column("key".to_owned()),
            dictionary_bytes: 0,
            ..WriterOptions::new(Compressor::parse("none").unwrap())
        };
        let mut writer = Writer::new(&table.schema, options).unwrap();
        let mut encoder = writer.encoder();
        let mut batches = BatchSource::new(table, Delivery { batch_rows: 1000, ..Delivery::default() });
        let mut bytes = writer.start();
        for group in 0..3 {
            encoder.begin(group);
            let first = group as usize * ROWS_OF_GROUP;
            batches.give(first..first + ROWS_OF_GROUP, encoder.as_mut()).unwrap();
            let mut part = encoder.finish().unwrap();
            writer.append(&mut part).unwrap();
            bytes.extend_from_slice(&part.bytes);
        }
        bytes.extend_from_slice(&writer.finish().unwrap());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        Reader::open(file, Path::new("t.buren")).unwrap()
    }

    fn rows(reader: &Reader, options: &ScanOptions) -> Vec<Vec<Cell>> {
        let mut all = Collector::new(options.projection.len());
        collect(reader, options, 1).unwrap().into_iter().for_each(|(rows, _)| all.append(rows));
        (0..all.columns[0].len()).map(|row| all.columns.iter().map(|column| column[row].clone()).collect()).collect()
    }

    #[test]
    fn keys_have_codes_beyond_the_scanner_s_dictionary() {
        let table = table();
        let reader = file(&table);
        assert!(reader.describe().unwrap().row_groups.iter().all(|group| group.key == Some(0)));
        let all = ScanOptions::everything(&table.schema);
        let row = |row: usize| table.columns.iter().map(|column| column[row].clone()).collect::<Vec<_>>();
        let expected: Vec<_> = (0..table.rows()).map(row).collect();
        assert!(rows(&reader, &all) == expected);
        for key in ["007", "127", "250"] {
            let predicate =
                Predicate::Compare { column: 0, comparison: Comparison::Equal, value: key.as_bytes().to_vec() };
            let asked = ScanOptions { predicate: Some(predicate), order: Order::Any, ..all.clone() };
            let of_key: Vec<_> =
                expected.iter().filter(|row| row[0] == Cell::Bytes(key.as_bytes().to_vec())).cloned().collect();
            let mut found = rows(&reader, &asked);
            found.retain(|row| row[0] == of_key[0][0]);
            assert!(found == of_key, "{key}: {} rows of {}", found.len(), of_key.len());
        }
    }
}
