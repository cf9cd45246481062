//! Compression of whole files, for encodings that do not compress their own blocks.
//!
//! The worker that encodes a part cuts it between rows into chunks and compresses each by itself, so compression and
//! decompression are as parallel as encoding.

use brc_compress::file_format::LARGEST_CHUNK;
use brc_compress::{ChunkSummary, Compressor, FileFormat};
use brc_core::{Batch, BatchWriter, Cut, Error, Part, PartEncoder, Result, Sink};
use std::any::Any;

/// The approximate number of bytes between two cuts: small enough to decompress and decode within the caches, large
/// enough for every compression to find repetitions.
pub(crate) const CUT_BYTES: usize = 512 << 10;

/// The size in bytes from which an encoder hands over the finished bytes of a part.
pub(crate) const LARGE_PART: usize = 32 << 20;

/// A writer whose file is compressed.
pub(crate) struct CompressedWriter {
    inner: Box<dyn BatchWriter>,
    /// The compression's name.
    name: &'static str,
    format: &'static dyn FileFormat,
    level: i32,
    chunks: Vec<ChunkSummary>,
}

impl CompressedWriter {
    /// Compresses the output of `inner`; returns `inner` if there is no compression.
    pub(crate) fn wrap(inner: Box<dyn BatchWriter>, compressor: Compressor) -> Box<dyn BatchWriter> {
        match compressor.compression.file_format() {
            Some(format) => {
                let (name, level) = (compressor.compression.name(), compressor.level);
                Box::new(Self { inner, name, format, level, chunks: Vec::new() })
            }
            None => inner,
        }
    }

    /// Compresses bytes other than rows.
    fn frame(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        if !bytes.is_empty() {
            self.chunks.push(self.format.chunk(self.level, bytes, 0, &mut output));
        }
        output
    }
}

impl BatchWriter for CompressedWriter {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let &Self { name, format, level, .. } = self;
        Box::new(CompressedEncoder { inner: self.inner.encoder(), name, format, level, output: Vec::new() })
    }

    fn start(&mut self) -> Vec<u8> {
        let mut bytes = self.format.start();
        let first = self.inner.start();
        bytes.extend(self.frame(&first));
        bytes
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        let meta = std::mem::replace(&mut part.meta, Box::new(()));
        let Ok(compressed) = meta.downcast::<CompressedMeta>() else {
            return Err(Error::Usage("a part of another writer".to_owned()));
        };
        part.meta = compressed.inner;
        self.chunks.extend_from_slice(&compressed.chunks);
        self.inner.append(part)
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let last = self.inner.finish()?;
        let mut bytes = self.frame(&last);
        bytes.extend(self.format.finish(&self.chunks));
        Ok(bytes)
    }
}

/// The chunks of a compressed part, for the writer.
struct CompressedMeta {
    inner: Box<dyn Any + Send>,
    chunks: Vec<ChunkSummary>,
}

struct CompressedEncoder {
    inner: Box<dyn PartEncoder>,
    name: &'static str,
    format: &'static dyn FileFormat,
    level: i32,
    output: Vec<u8>,
}

impl Sink for CompressedEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.inner.batch(batch)
    }
}

impl CompressedEncoder {
    fn compress(&mut self, part: Part) -> Result<Part> {
        let Part { rows, bytes, cuts, meta, meta_bytes } = part;
        let mut output = std::mem::take(&mut self.output);
        let mut chunks = Vec::with_capacity(cuts.len() + 1);
        let mut start = Cut { at: 0, rows: 0 };
        for cut in cuts.into_iter().chain([Cut { at: bytes.len(), rows }]) {
            let chunk = &bytes[start.at..cut.at];
            if chunk.len() > LARGEST_CHUNK {
                let megabytes = LARGEST_CHUNK >> 20;
                let rows = cut.rows - start.rows;
                let reason = format!("{rows} rows between two cuts are longer than {megabytes} MiB");
                return Err(Error::too_large(self.name, reason));
            }
            if !chunk.is_empty() {
                // A chunk within the size limit has fewer than 2^32 rows: each takes at least one byte.
                let rows = u32::try_from(cut.rows - start.rows).unwrap_or(u32::MAX);
                chunks.push(self.format.chunk(self.level, chunk, rows, &mut output));
            }
            start = cut;
        }
        self.inner.recycle(bytes);
        Ok(Part {
            rows,
            bytes: output,
            cuts: Vec::new(),
            meta: Box::new(CompressedMeta { inner: meta, chunks }),
            meta_bytes,
        })
    }
}

impl PartEncoder for CompressedEncoder {
    fn begin(&mut self, part: u64) {
        self.inner.begin(part);
    }

    fn skip(&mut self) {
        self.inner.skip();
    }

    fn finish(&mut self) -> Result<Part> {
        let part = self.inner.finish()?;
        self.compress(part)
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        self.inner.overflow()?.map(|part| self.compress(part)).transpose()
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.output);
    }
}
