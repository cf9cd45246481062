//! LZ4 raw blocks by `lz4_flex`, in its safe variant.

use crate::{Compression, DecompressError};

pub(crate) struct Lz4;

impl Compression for Lz4 {
    fn name(&self) -> &'static str {
        "lz4"
    }

    fn id(&self) -> u8 {
        2
    }

    fn about(&self) -> &'static str {
        "LZ4 raw blocks: the fastest to decompress"
    }

    fn compress(&self, _: i32, input: &[u8], output: &mut Vec<u8>) {
        output.extend_from_slice(&lz4_flex::block::compress(input));
    }

    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let malformed = |error: lz4_flex::block::DecompressError| DecompressError::Malformed {
            compression: "lz4",
            reason: error.to_string(),
        };
        let found = lz4_flex::block::decompress_into(input, output).map_err(malformed)?;
        if found == output.len() { Ok(()) } else { Err(DecompressError::Length { expected: output.len(), found }) }
    }
}
