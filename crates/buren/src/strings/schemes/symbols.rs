//! Values over an alphabet of at most 16 bytes (hexadecimal digits, bases, flags), in 1, 2 or 4 bits per symbol after
//! the lengths.

use super::{Input, LENGTHS, Malformed, Plan, Scheme, Scratch, Stored, StringBuffer, Strings};
use crate::strings::GROUP;
use crate::strings::section::{self, Lengths};
use std::ops::Range;

/// The maximum number of symbols.
const MAX_SYMBOLS: usize = 16;

pub(super) struct Symbols;

impl Scheme for Symbols {
    fn id(&self) -> u8 {
        3
    }

    fn name(&self) -> &'static str {
        "symbols"
    }

    fn cost(&self) -> u32 {
        2
    }

    fn plan(&self, input: Input<'_>) -> Option<Plan> {
        let alphabet = Alphabet::of(input.values)?;
        let stored: u64 = section::groups(input.values).map(|group| alphabet.stored(group.total_bytes())).sum();
        Some(Plan::sized(1 + (1 << alphabet.bits) + section::lengths_size(input.values) + stored))
    }

    fn encode(&self, input: Input<'_>, _: &Plan, out: &mut Vec<u8>) {
        let Some(alphabet) = Alphabet::of(input.values) else { return };
        let codes = alphabet.codes();
        out.push(alphabet.bits as u8);
        out.extend_from_slice(&alphabet.symbols[..1 << alphabet.bits]);
        section::write_lengths(input.values, out);
        let mut packed = Vec::new();
        let mut ends = Vec::new();
        for group in section::groups(input.values) {
            let symbols = &group.bytes()[group.offsets()[0] as usize..][..group.total_bytes()];
            // The first symbol is in the lowest bits.
            let pack = |byte: u8, symbol: &u8| (byte << alphabet.bits) | codes[usize::from(*symbol)];
            packed.extend(symbols.chunks(8 / alphabet.bits).map(|symbols| symbols.iter().rev().fold(0, pack)));
            ends.push(packed.len() as u32);
        }
        section::write_ends(&ends, out);
        out.extend_from_slice(&packed);
    }

    fn decode(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        scratch: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed> {
        let mut bytes = stored.bytes;
        let alphabet = Alphabet::take(&mut bytes)?;
        let lengths = Lengths::take(&mut bytes, stored.rows)?;
        if lengths.total() != bytes.len() {
            return Err(Malformed("the ends of its groups do not fit what is stored"));
        }
        let whole = lengths.whole_groups(&rows);
        let of_rows = lengths.read(&whole, &mut scratch.lengths)?;
        let total = out.set_lengths(of_rows.iter().copied(), 0)?;
        if total > lengths.stored(&whole)?.len() * (8 / alphabet.bits) {
            return Err(LENGTHS);
        }
        let (offsets, room) = out.room();
        for group in whole.clone().step_by(GROUP) {
            let group = group..whole.end.min(group + GROUP);
            let offset = |row: usize| offsets[row - whole.start] as usize;
            let packed = &bytes[lengths.stored(&group)?];
            let (start, end) = (offset(group.start), offset(group.end));
            if alphabet.stored(end - start) != packed.len() as u64 {
                return Err(LENGTHS);
            }
            alphabet.unpack(packed, &mut room[start..]);
        }
        out.truncate(rows.len());
        Ok(())
    }
}

/// Whether the scheme can store these values.
pub(in super::super) fn few_symbols(values: Strings<'_>) -> bool {
    Alphabet::of(values).is_some()
}

/// The symbols that occur in ascending order, followed by zeros.
struct Alphabet {
    symbols: [u8; MAX_SYMBOLS],
    /// The bits per symbol.
    bits: usize,
}

impl Alphabet {
    fn of(values: Strings<'_>) -> Option<Self> {
        /// The number of bytes between checks for too many symbols.
        const AT_ONCE: usize = 512;
        let mut occurs = [false; 256];
        let mut count = 0;
        for bytes in values.bytes()[values.offsets()[0] as usize..][..values.total_bytes()].chunks(AT_ONCE) {
            bytes.iter().for_each(|&byte| occurs[usize::from(byte)] = true);
            count = occurs.iter().filter(|occurs| **occurs).count();
            if count > MAX_SYMBOLS {
                return None;
            }
        }
        let mut symbols = [0; MAX_SYMBOLS];
        let occurring = (0..=u8::MAX).filter(|&byte| occurs[usize::from(byte)]);
        symbols.iter_mut().zip(occurring).for_each(|(symbol, byte)| *symbol = byte);
        let bits = if count <= 2 {
            1
        } else if count <= 4 {
            2
        } else {
            4
        };
        Some(Self { symbols, bits })
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        const CUT: Malformed = Malformed("the symbols are cut off");
        let (&bits, rest) = bytes.split_first().ok_or(CUT)?;
        if !matches!(bits, 1 | 2 | 4) {
            return Err(Malformed("its symbols are not of 1, 2 or 4 bits"));
        }
        let (stored, rest) = rest.split_at_checked(1 << bits).ok_or(CUT)?;
        *bytes = rest;
        let mut symbols = [0; MAX_SYMBOLS];
        symbols[..stored.len()].copy_from_slice(stored);
        Ok(Self { symbols, bits: usize::from(bits) })
    }

    /// The number of bytes into which `symbols` symbols are packed.
    fn stored(&self, symbols: usize) -> u64 {
        symbols.div_ceil(8 / self.bits) as u64
    }

    /// The code of each byte that is a symbol.
    fn codes(&self) -> [u8; 256] {
        let mut codes = [0; 256];
        // In reverse, so that the zeros after the symbols do not override them.
        for (code, &symbol) in (0..MAX_SYMBOLS as u8).zip(&self.symbols).rev() {
            codes[usize::from(symbol)] = code;
        }
        codes
    }

    fn unpack(&self, packed: &[u8], out: &mut [u8]) {
        match self.bits {
            1 => self.unpack_by::<8>(packed, out),
            2 => self.unpack_by::<4>(packed, out),
            _ => self.unpack_by::<2>(packed, out),
        }
    }

    /// Writes the `N` symbols of each byte with one copy. May write a few bytes after the last symbol.
    fn unpack_by<const N: usize>(&self, packed: &[u8], out: &mut [u8]) {
        let symbols =
            |byte: usize| std::array::from_fn(|at| self.symbols[byte >> (at * self.bits) & ((1 << self.bits) - 1)]);
        let table: [[u8; N]; 256] = std::array::from_fn(symbols);
        for (out, &byte) in out.as_chunks_mut().0.iter_mut().zip(packed) {
            *out = table[usize::from(byte)];
        }
    }
}
