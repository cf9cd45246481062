//! Snappy raw blocks by `snap`.

use crate::{Compression, DecompressError};

pub(crate) struct Snappy;

impl Compression for Snappy {
    fn name(&self) -> &'static str {
        "snappy"
    }

    fn id(&self) -> u8 {
        1
    }

    fn about(&self) -> &'static str {
        "Snappy raw blocks: light and fast"
    }

    fn compress(&self, _: i32, input: &[u8], output: &mut Vec<u8>) {
        let start = output.len();
        output.resize(start + snap::raw::max_compress_len(input.len()), 0);
        // It fails only for a buffer that is too small or an input of 4 GiB; blocks are far below that.
        match snap::raw::Encoder::new().compress(input, &mut output[start..]) {
            Ok(length) => output.truncate(start + length),
            Err(error) => unreachable!("snappy refused a block: {error}"),
        }
    }

    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let malformed =
            |error: snap::Error| DecompressError::Malformed { compression: "snappy", reason: error.to_string() };
        let found = snap::raw::decompress_len(input).map_err(malformed)?;
        if found != output.len() {
            return Err(DecompressError::Length { expected: output.len(), found });
        }
        snap::raw::Decoder::new().decompress(input, output).map_err(malformed)?;
        Ok(())
    }
}
