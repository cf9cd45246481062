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
/// without codes.
const MAX_VALUES: usize = 1 << 20;

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
        let interner = known.interner();
        let known = interner.dictionary();
        let has_room = known.len() < MAX_VALUES && known.value_bytes() < MAX_BYTES;
        if has_room || values.strings().iter().any(|value| value.len() > LONG_VALUE_BYTES) {
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
