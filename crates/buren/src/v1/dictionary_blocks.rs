//! The distinct values of a string column in byte order, as blocks: a packed array of their lengths, then their bytes.

use crate::array::{self, PackedArray};
use crate::block::{self, Block};
use brc_compress::Compressor;
use brc_core::{Dictionary, Result};

/// A block is closed when it has this many bytes of values.
const BLOCK_BYTES: usize = 256 << 10;

/// Or this many values.
const BLOCK_VALUES: usize = 64 << 10;

/// Appends the values as blocks; each is returned with how many values it has.
pub(crate) fn write<'a>(
    values: impl Iterator<Item = &'a [u8]>,
    compression: Compressor,
    out: &mut Vec<u8>,
) -> Result<Vec<(u32, Block)>> {
    let mut blocks = Vec::new();
    let (mut lengths, mut bytes, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let mut values = values.peekable();
    while let Some(value) = values.next() {
        lengths.push(value.len() as i64);
        bytes.extend_from_slice(value);
        if bytes.len() >= BLOCK_BYTES || lengths.len() >= BLOCK_VALUES || values.peek().is_none() {
            let start = out.len();
            array::write(&lengths, out);
            out.append(&mut bytes);
            blocks.push((lengths.len() as u32, block::seal(compression, out, start, &mut scratch)?));
            lengths.clear();
        }
    }
    Ok(blocks)
}

/// Appends the values of a block to a dictionary.
///
/// # Errors
/// If the lengths do not add up to the block's, or the values do not ascend, so that one might come twice.
pub(crate) fn read(mut block: &[u8], values: u32, dictionary: &mut Dictionary) -> Result<(), &'static str> {
    const LENGTHS: &str = "the lengths of its values do not add up to its own";
    let mut lengths = Vec::new();
    PackedArray::take(&mut block, values as usize)?.read_i64(&mut lengths);
    dictionary.reserve(lengths.len(), block.len());
    for length in lengths {
        let length = usize::try_from(length).map_err(|_| LENGTHS)?;
        let (value, rest) = block.split_at_checked(length).ok_or(LENGTHS)?;
        let last = dictionary.len().checked_sub(1).map(|last| dictionary.get(last as u32));
        if last.is_some_and(|last| last >= value) {
            return Err("its values are not in ascending order");
        }
        dictionary.push(value);
        block = rest;
    }
    if block.is_empty() { Ok(()) } else { Err(LENGTHS) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(values: &[&[u8]]) -> Result<Dictionary, &'static str> {
        let none = Compressor::none();
        let mut bytes = Vec::new();
        let blocks = write(values.iter().copied(), none, &mut bytes).unwrap();
        assert_eq!(blocks.len(), 1);
        let mut dictionary = Dictionary::new();
        read(&bytes, blocks[0].0, &mut dictionary)?;
        Ok(dictionary)
    }

    #[test]
    fn only_values_in_ascending_order_are_a_dictionary() {
        let values = [b"".as_slice(), b"a", b"ab", b"b", b"\xff"];
        assert!(read_back(&values).unwrap().iter().eq(values));
        for unordered in [[b"b".as_slice(), b"a"], [b"a".as_slice(), b"a"]] {
            assert_eq!(read_back(&unordered), Err("its values are not in ascending order"));
        }
    }
}
