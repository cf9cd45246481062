//! Assembles record batches to a file and ends it with dictionaries and footer.
//!
//! The footer locates the dictionaries, so they may follow the record batches, when all values are known.

use super::NAME;
use super::codec::Codec;
use super::encoder::{self, Codes, Encoder, PartMeta};
use super::messages::{self, ColumnBuffers, padding};
use super::outline::CREATED_BY;
use crate::columnar::seal;
use arrow_ipc::Block;
use brc_core::{BatchWriter, Dictionary, Error, LogicalType, Part, PartEncoder, Result, Schema};
use brc_kernels::interner::DictionaryBuilder;
use parking_lot::RwLock;
use std::any::Any;
use std::sync::Arc;

pub(super) const MAGIC: &[u8; 6] = b"ARROW1";

/// The size of the magic at the start.
pub(super) const MAGIC_BYTES: usize = 8;

/// The footer key of the checksums: for each record batch one of its message and one of each column's buffers, then
/// one for each dictionary.
pub(super) const CHECKSUMS: &str = "brc.checksums";

/// The end of a stream, for readers of the file as a stream: an empty message.
pub(super) const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// The start of a file: the magic, and the schema message for readers of the file as a stream. Decimals of up to 18
/// digits have `decimal_bits`. If `is_marked`, metadata of the message say that the footer has a checksum.
pub(super) fn start(schema: &Schema, decimal_bits: i32, is_marked: bool) -> Vec<u8> {
    let mark = [(seal::MARK, String::new())];
    let about = if is_marked { &mark[..] } else { &[] };
    let coded = messages::coded_in_files(schema);
    let mut start = MAGIC.to_vec();
    start.resize(MAGIC_BYTES, 0);
    start.extend_from_slice(&messages::schema(schema, &coded, decimal_bits, MAGIC_BYTES, about));
    start
}

pub(super) struct Writer {
    schema: Arc<Schema>,
    codec: Option<Codec>,
    codes: Codes,
    batches: Vec<Block>,
    checksums: Vec<u32>,
    /// The offset of the next part.
    end: usize,
}

impl Writer {
    pub(super) fn new(schema: &Schema, codec: Option<Codec>) -> Self {
        let strings = schema.fields().iter().filter(|field| field.logical_type == LogicalType::String);
        let codes = strings.map(|_| DictionaryBuilder::default()).collect();
        Self {
            schema: Arc::new(schema.clone()),
            codec,
            codes: Arc::new(RwLock::new(codes)),
            batches: Vec::new(),
            checksums: Vec::new(),
            end: 0,
        }
    }

    /// Assigns codes to the values of a part.
    fn give_codes(&self, own: &[Dictionary]) -> Result<Vec<Vec<u32>>> {
        let mut file = self.codes.write();
        let mut all = Vec::new();
        for (own, file) in own.iter().zip(file.iter_mut()) {
            all.push(own.iter().map(|value| file.intern(value)).collect());
            if file.dictionary().len() > i32::MAX as usize || file.dictionary().value_bytes() > i32::MAX as usize {
                return Err(Error::too_large(NAME, "the strings of a column have 2 GiB together"));
            }
        }
        Ok(all)
    }
}

/// Appends a dictionary and returns its location from the start of `out`.
pub(super) fn write_dictionary(id: usize, dictionary: &Dictionary, codec: Option<Codec>, out: &mut Vec<u8>) -> Block {
    let mut offsets = 0i32.to_le_bytes().to_vec();
    let mut end = 0;
    for value in dictionary.iter() {
        end += value.len() as i32;
        offsets.extend_from_slice(&end.to_le_bytes());
    }
    let values: Vec<u8> = dictionary.iter().flatten().copied().collect();
    // None of the values is null.
    let (mut body, mut buffers) = (Vec::new(), std::iter::once(0..0).collect::<Vec<_>>());
    for buffer in [offsets, values] {
        let start = body.len();
        match codec {
            Some(codec) if !buffer.is_empty() => codec.compress(&buffer, &mut body),
            _ => body.extend_from_slice(&buffer),
        }
        buffers.push(start..body.len());
        body.resize(body.len() + padding(body.len()), 0);
    }
    let message = messages::dictionary(
        id as i64,
        dictionary.len(),
        ColumnBuffers { nulls: 0, buffers },
        codec.map(|codec| codec.id),
    );
    let start = out.len();
    out.extend_from_slice(&message);
    out.extend_from_slice(&body);
    Block::new(start as i64, message.len() as i32, body.len() as i64)
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder::new(&self.schema, self.codec, &self.codes))
    }

    fn start(&mut self) -> Vec<u8> {
        let start = start(&self.schema, messages::DECIMAL_BITS, true);
        self.end = start.len();
        start
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let meta = std::mem::replace(&mut part.meta, Box::new(()) as Box<dyn Any + Send>).downcast::<PartMeta>();
        let meta = meta.map_err(|_| Error::Usage("a part that no arrow encoder made, or one appended twice".into()))?;
        let PartMeta { mut batches, own } = *meta;
        if let Some(own) = own {
            let codes = self.give_codes(&own)?;
            encoder::translate(&mut part.bytes, &batches, &self.schema, &codes);
            (part.bytes, batches) = encoder::finish(std::mem::take(&mut part.bytes), batches, self.codec);
        }
        for batch in batches {
            let offset = (self.end + batch.message.start) as i64;
            self.batches.push(Block::new(offset, batch.message.len() as i32, batch.body.len() as i64));
            self.checksums.extend(batch.checksums);
        }
        self.end += part.bytes.len();
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut dictionaries = Vec::new();
        let codes = Arc::clone(&self.codes);
        let codes = codes.read();
        for (id, strings) in codes.iter().enumerate() {
            let start = out.len();
            let mut block = write_dictionary(id, strings.dictionary(), self.codec, &mut out);
            block.set_offset(block.offset() + self.end as i64);
            dictionaries.push(block);
            self.checksums.push(crc_fast::crc32_iscsi(&out[start..]));
        }
        out.extend_from_slice(&END);
        let about = [(CREATED_BY, seal::created_by()), (CHECKSUMS, seal::to_text(&self.checksums))];
        let mut footer = messages::footer(&self.schema, &dictionaries, &self.batches, &about);
        if !seal::seal(&mut footer) {
            return Err(Error::Usage("arrow has no room for the checksum of the footer".into()));
        }
        out.extend_from_slice(&footer);
        out.extend_from_slice(&(footer.len() as u32).to_le_bytes());
        out.extend_from_slice(MAGIC);
        Ok(out)
    }
}
