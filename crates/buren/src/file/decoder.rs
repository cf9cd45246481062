//! Decodes the values of a chunk, some rows of a block at a time, into reused memory.

use super::bounds::Bounds;
use super::footer::{Chunk, Layout};
use crate::Malformed;
use crate::floats;
use crate::integers::{self, Block, Decodable, wide};
use crate::strings::{NumberFormat, Scratch, StringBlock, StringBuffer, Tokens};
use brc_core::{ByteStrings, Data, Integers, Run, for_integers};
use std::ops::Range;

type Result<T> = std::result::Result<T, Malformed>;

/// The decoder of a chunk and its output.
pub(super) enum Decoder {
    I16(integers::Chunk, Vec<i16>),
    I32(integers::Chunk, Vec<i32>),
    I64(integers::Chunk, Vec<i64>),
    I128(wide::Chunk, Vec<i128>),
    Floats(floats::Chunk, Vec<f64>),
    Strings(Box<DecodedStrings>),
    /// The codes, with the largest of those decoded last, if known.
    Codes(integers::Chunk, Vec<i32>, Option<u32>),
}

/// A buffer of decoded strings.
#[derive(Default)]
pub(super) struct DecodedStrings {
    tokens: Option<Tokens>,
    scratch: Scratch,
    strings: StringBuffer,
    offsets: Vec<i32>,
}

impl DecodedStrings {
    /// Sets the offsets to those of `strings`.
    fn set_offsets(&mut self) -> Result<()> {
        self.offsets.clear();
        self.offsets.extend(self.strings.offsets().iter().map(|&offset| offset as i32));
        match self.offsets.last() {
            Some(&last) if last >= 0 => Ok(()),
            _ => Err(Malformed("its values have 2 GiB or more")),
        }
    }

    pub(super) fn data(&self) -> Data<'_> {
        Data::Bytes(ByteStrings::new(&self.offsets, self.strings.strings().bytes()))
    }

    /// Replaces the strings.
    pub(super) fn replace<'a>(&mut self, values: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        self.strings.clear();
        let mut left = i32::MAX as usize;
        for value in values {
            left = left.checked_sub(value.len()).ok_or(Malformed("its values have 2 GiB or more"))?;
            self.strings.push(value);
        }
        self.set_offsets()
    }
}

impl Decoder {
    /// Opens a chunk with these parameters and tokens.
    pub(super) fn open(chunk: &Chunk, parameters: &[u8], tokens: Option<Tokens>) -> Result<Self> {
        let integers = || integers::Chunk::open(chunk.scheme, parameters);
        Ok(match chunk.layout {
            Layout::Integers | Layout::InRuns => match chunk.bounds {
                Some(Bounds::Numbers { min, max }) if i16::try_from(min).is_ok() && i16::try_from(max).is_ok() => {
                    Self::I16(integers()?, Vec::new())
                }
                Some(Bounds::Numbers { min, max }) if i32::try_from(min).is_ok() && i32::try_from(max).is_ok() => {
                    Self::I32(integers()?, Vec::new())
                }
                Some(Bounds::Numbers { .. }) => Self::I64(integers()?, Vec::new()),
                // There are only nulls.
                Some(Bounds::Strings { .. }) | None => Self::I16(integers()?, Vec::new()),
            },
            Layout::Wide => Self::I128(wide::Chunk::open(parameters)?, Vec::new()),
            Layout::Floats => Self::Floats(floats::Chunk::open(parameters)?, Vec::new()),
            Layout::Strings => Self::Strings(Box::new(DecodedStrings { tokens, ..DecodedStrings::default() })),
            Layout::Codes | Layout::FileCodes => Self::Codes(integers()?, Vec::new(), None),
        })
    }

    /// Decodes some rows of a block, starting at a group. Differences are added to `reference`, the values of the
    /// reference column in the same rows.
    pub(super) fn decode(
        &mut self,
        block: &Block<'_>,
        rows: Range<usize>,
        reference: Option<Integers<'_>>,
    ) -> Result<()> {
        let (first, count) = (rows.start, rows.len());
        match self {
            Self::I16(chunk, values) => {
                values.resize(count, 0);
                chunk.decode(block, first, &cut(reference), values)
            }
            Self::I32(chunk, values) => {
                values.resize(count, 0);
                chunk.decode(block, first, &cut(reference), values)
            }
            Self::Codes(chunk, codes, largest) => {
                codes.resize(count, 0);
                *largest = chunk.decode_codes(block, first, &cut(reference), codes)?;
                Ok(())
            }
            Self::I64(chunk, values) => {
                values.resize(count, 0);
                chunk.decode(block, first, &cut(reference), values)
            }
            Self::I128(chunk, values) => {
                values.resize(count, 0);
                chunk.decode(block, first, values)
            }
            Self::Floats(chunk, values) => {
                values.resize(count, 0.0);
                chunk.decode(block, first, values)
            }
            Self::Strings(decoded) => {
                let DecodedStrings { tokens, scratch, strings, .. } = decoded.as_mut();
                StringBlock::open(block.bytes, block.rows, tokens.as_ref())?.decode(rows, scratch, strings)?;
                decoded.set_offsets()
            }
        }
    }

    /// Decodes values stored relative to the minimum of their run. `runs` cover the rows, and their codes are run
    /// numbers.
    pub(super) fn decode_in_runs(
        &mut self,
        block: &Block<'_>,
        rows: Range<usize>,
        runs: &[Run],
        smallest: &[i64],
    ) -> Result<()> {
        fn decode<T: Decodable>(
            block: &Block<'_>,
            rows: Range<usize>,
            (runs, smallest): (&[Run], &[i64]),
            values: &mut Vec<T>,
        ) -> Result<()> {
            values.resize(rows.len(), T::default());
            integers::decode_in_runs(block, rows.start, runs, smallest, values)
        }
        match self {
            Self::I16(_, values) => decode(block, rows, (runs, smallest), values),
            Self::I32(_, values) => decode(block, rows, (runs, smallest), values),
            Self::I64(_, values) => decode(block, rows, (runs, smallest), values),
            Self::I128(..) | Self::Floats(..) | Self::Strings(_) | Self::Codes(..) => Ok(()),
        }
    }

    /// Replaces `numbers` with the numbers that strings contain, and returns their format; `None` if the block does not
    /// store numbers.
    pub(super) fn numbers(
        &self,
        block: &Block<'_>,
        rows: Range<usize>,
        numbers: &mut Vec<i64>,
    ) -> Result<Option<NumberFormat>> {
        let Self::Strings(decoded) = self else { return Ok(None) };
        let block = StringBlock::open(block.bytes, block.rows, decoded.tokens.as_ref())?;
        let Some(found) = block.numbers()? else { return Ok(None) };
        found.read(rows, numbers)?;
        Ok(Some(found.format))
    }

    /// The decoded values, if they are integers.
    pub(super) fn integers(&self) -> Option<Integers<'_>> {
        if let Decoded::Data(Data::Integers(integers)) = self.decoded() { Some(integers) } else { None }
    }

    /// The decoded values or codes.
    pub(super) fn decoded(&self) -> Decoded<'_> {
        Decoded::Data(match self {
            Self::I16(_, values) => Data::Integers(Integers::I16(values)),
            Self::I32(_, values) => Data::Integers(Integers::I32(values)),
            Self::I64(_, values) => Data::Integers(Integers::I64(values)),
            Self::I128(_, values) => Data::Integers(Integers::I128(values)),
            Self::Floats(_, values) => Data::Floats(values),
            Self::Strings(decoded) => decoded.data(),
            Self::Codes(_, codes, largest) => return Decoded::Codes(codes, *largest),
        })
    }
}

/// The low bits of integers; empty if there are none.
#[allow(clippy::unnecessary_cast, reason = "the macro has one body for all widths")]
fn cut<T: Decodable>(values: Option<Integers<'_>>) -> Vec<T> {
    let Some(values) = values else { return Vec::new() };
    for_integers!(values, values => values.iter().map(|&value| T::cut(value as i64)).collect())
}

/// Decoded rows of a chunk.
pub(super) enum Decoded<'a> {
    Data(Data<'a>),
    /// Indices into the chunk's dictionary, not yet checked, and the largest one as unsigned, if known.
    Codes(&'a [i32], Option<u32>),
}
