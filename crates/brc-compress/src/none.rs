//! No compression.

use crate::{Compression, DecompressError};

pub(crate) struct None;

impl Compression for None {
    fn name(&self) -> &'static str {
        "none"
    }

    fn id(&self) -> u8 {
        0
    }

    fn about(&self) -> &'static str {
        "uncompressed"
    }

    fn compress(&self, _: i32, input: &[u8], output: &mut Vec<u8>) {
        output.extend_from_slice(input);
    }

    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        if input.len() != output.len() {
            return Err(DecompressError::Length { expected: output.len(), found: input.len() });
        }
        output.copy_from_slice(input);
        Ok(())
    }
}
