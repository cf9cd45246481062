//! Puts row groups together to a file and ends it with dictionaries, code maps, footer and trailer.
//!
//! Workers number the values of a row group by themselves. The writer sees the row groups in file order, gives every new
//! value the next number, and remembers for each row group which of its codes has which number, packed. At the end the
//! numbers are replaced by the positions of the values in byte order. So the bytes do not depend on the workers.

use crate::array::{self, PackedArray};
use crate::block;
use crate::trailer::{self, Trailer};
use crate::v1::dictionary_blocks;
use crate::v1::encoder::{Encoder, PartMeta};
use crate::v1::footer::{Content, DictionaryBlocks, Footer, ROWS_PER_BLOCK};
use crate::v1::footer_message;
use brc_compress::Compressor;
use brc_core::{BatchWriter, Dictionary, Error, LogicalType, Part, PartEncoder, Result, Schema};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Writes a file of version 1.
pub(crate) struct Writer {
    schema: Arc<Schema>,
    compression: Compressor,
    key: Option<usize>,
    footer: Footer,
    interners: Vec<Interner>,
    /// For each row group and string column, the numbers of its codes as a packed array.
    numbers: Vec<Vec<u8>>,
}

impl Writer {
    /// Whether the version can store values of these columns, and gives back their types: only nulls it cannot.
    pub(crate) fn supports(schema: &Schema) -> bool {
        schema.fields().iter().all(|field| match field.logical_type {
            LogicalType::String | LogicalType::Int64 => true,
            LogicalType::Decimal { precision, scale } => {
                precision == LogicalType::MAX_PRECISION_64 && (1..=precision).contains(&scale)
            }
            LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::UInt64
            | LogicalType::Float32
            | LogicalType::Float64
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. }
            | LogicalType::Binary
            | LogicalType::Uuid => false,
        })
    }

    /// A writer of a table of that schema, clustered by a column of strings: the key, or else the one of lowest cardinality in
    /// each row group.
    pub(crate) fn new(schema: &Schema, key: Option<usize>, compression: Compressor) -> Self {
        let columns = schema.fields().len();
        let footer = Footer {
            schema: schema.clone(),
            rows: 0,
            rows_per_block: ROWS_PER_BLOCK,
            compression: compression.compression,
            dictionaries: vec![DictionaryBlocks::default(); columns],
            row_groups: Vec::new(),
        };
        let interners = (0..columns).map(|_| Interner::default()).collect();
        let schema = Arc::new(schema.clone());
        Self { schema, compression, key, footer, interners, numbers: Vec::new() }
    }

    /// Writes the dictionary of a column and returns the position in it of each number.
    fn finish_dictionary(&mut self, column: usize, out: &mut Vec<u8>) -> Result<Vec<i64>> {
        let dictionary = &self.interners[column].dictionary;
        let mut sorted: Vec<u32> = (0..dictionary.len() as u32).collect();
        sorted.sort_unstable_by_key(|&number| dictionary.get(number));
        let mut positions = vec![0; sorted.len()];
        for (position, &number) in sorted.iter().enumerate() {
            positions[number as usize] = position as i64;
        }
        let values = sorted.iter().map(|&number| dictionary.get(number));
        let blocks = dictionary_blocks::write(values, self.compression, out)?;
        self.footer.dictionaries[column] = DictionaryBlocks { values: sorted.len() as u32, blocks };
        Ok(positions)
    }

    /// Writes the code maps of all row groups.
    fn finish_maps(&mut self, positions: &[Vec<i64>], out: &mut Vec<u8>) -> Result<()> {
        let (mut codes, mut scratch) = (Vec::new(), Vec::new());
        let mut numbers = self.numbers.iter();
        for row_group in &mut self.footer.row_groups {
            for (chunk, positions) in row_group.chunks.iter_mut().zip(positions) {
                let Content::String { cardinality, map } = &mut chunk.content else { continue };
                let packed = numbers.next().map(Vec::as_slice).unwrap_or_default();
                let own = PackedArray::take(&mut { packed }, *cardinality as usize);
                own.map_err(|reason| Error::Usage(reason.to_owned()))?.read_i64(&mut codes);
                codes.iter_mut().for_each(|code| *code = positions[*code as usize]);
                let start = out.len();
                array::write(&codes, out);
                *map = block::seal(self.compression, out, start, &mut scratch)?;
            }
        }
        Ok(())
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder::new(Arc::clone(&self.schema), self.compression, self.key))
    }

    fn start(&mut self) -> Vec<u8> {
        trailer::header(trailer::VERSION_1).to_vec()
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let empty: Box<dyn std::any::Any + Send> = Box::new(());
        let meta = std::mem::replace(&mut part.meta, empty).downcast::<PartMeta>();
        let meta =
            meta.map_err(|_| Error::Usage("a part that no buren encoder made, or one appended twice".to_owned()))?;
        if part.rows == 0 {
            return Ok(());
        }
        let mut numbers = Vec::new();
        for (chunk, (interner, dictionary)) in
            meta.row_group.chunks.iter().zip(self.interners.iter_mut().zip(&meta.dictionaries))
        {
            if matches!(chunk.content, Content::String { .. }) {
                interner.parts += 1;
                numbers.clear();
                for value in dictionary.iter() {
                    numbers.push(i64::from(interner.intern(value)?));
                }
                let mut packed = Vec::new();
                array::write(&numbers, &mut packed);
                self.numbers.push(packed);
            }
        }
        self.footer.rows += part.rows;
        self.footer.row_groups.push(meta.row_group);
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let positions: Vec<_> =
            (0..self.interners.len()).map(|column| self.finish_dictionary(column, &mut out)).collect::<Result<_>>()?;
        self.finish_maps(&positions, &mut out)?;
        let footer = footer_message::write(&self.footer)?;
        let trailer = Trailer {
            version: trailer::VERSION_1,
            footer_bytes: footer.len() as u64,
            footer_checksum: block::checksum(&footer),
        };
        out.extend_from_slice(&footer);
        out.extend_from_slice(&trailer.to_bytes());
        Ok(out)
    }
}

/// Numbers values in the order in which they first appear.
#[derive(Default)]
struct Interner {
    dictionary: Dictionary,
    numbers: HashTable<u32>,
    hasher: RandomState,
    /// How many parts came so far, and the last of them that each number occurred in.
    parts: u32,
    last_part: Vec<u32>,
}

impl Interner {
    /// The number of a value, which occurs once in the part at hand.
    fn intern(&mut self, value: &[u8]) -> Result<u32> {
        let Self { dictionary, numbers, hasher, parts, last_part } = self;
        let hash = hasher.hash_one(value);
        let known = numbers.find(hash, |number| dictionary.get(*number) == value).copied();
        let number = known.unwrap_or_else(|| {
            let number = dictionary.push(value);
            numbers.insert_unique(hash, number, |number| hasher.hash_one(dictionary.get(*number)));
            last_part.push(0);
            number
        });
        let last = &mut last_part[number as usize];
        if std::mem::replace(last, *parts) == *parts {
            let value = String::from_utf8_lossy(value);
            return Err(Error::Usage(format!("two codes of one dictionary stand for '{value}'")));
        }
        Ok(number)
    }
}
