//! The container: the header of a file, and the framing of its blocks.
//!
//! Every number is a *long*: a zigzag varint, with seven bits per byte, lowest first, and the sign in the lowest bit.

use super::codec::Codec;
use crate::columnar::seal::{self, Seal};
use crate::fault::Fault;
use crate::varint;
use crc_fast::{CrcAlgorithm, checksum};

/// The magic of a file.
pub(super) const MAGIC: &[u8] = b"Obj\x01";

/// The sync marker after each block.
pub(super) type Sync = [u8; 16];

/// The header keys of the schema and the compression.
const SCHEMA: &str = "avro.schema";
const CODEC: &str = "avro.codec";

/// The header key of the program's name, which includes the checksum of the header.
const CREATED_BY: &str = "brc.created_by";

/// Takes a long off the front of `bytes`; `None` if they end within it, or it is too long.
#[inline]
pub(super) fn take_long(bytes: &mut &[u8]) -> Option<i64> {
    varint::take(bytes).map(varint::unzigzag)
}

/// The bytes of a long, and their number.
#[inline]
pub(super) fn long(value: i64) -> ([u8; varint::MAX_BYTES], usize) {
    varint::bytes_of(varint::zigzag(value))
}

/// Appends a long.
pub(super) fn push_long(value: i64, out: &mut Vec<u8>) {
    let (bytes, length) = long(value);
    out.extend_from_slice(&bytes[..length]);
}

/// Appends a long with one byte more than it needs.
pub(super) fn push_longer(value: i64, out: &mut Vec<u8>) {
    push_long(value, out);
    if let Some(last) = out.last_mut() {
        *last |= 0x80;
    }
    out.push(0);
}

/// Takes a length-prefixed byte string off the front of `bytes`.
#[inline]
pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_long(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// The header of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// JSON.
    pub(super) schema: String,
    pub(super) codec: Codec,
    /// All other keys with text values.
    pub(super) metadata: Vec<(String, String)>,
    pub(super) sync: Sync,
    /// Whether `brc` wrote it.
    pub(super) is_own: bool,
}

impl Header {
    /// The bytes of the header. The sync marker depends on the rest of the header, so that the output is deterministic.
    pub(super) fn write(schema: &str, codec: Codec, metadata: &[(String, String)]) -> (Vec<u8>, Sync) {
        let created_by = (CREATED_BY.to_owned(), seal::created_by());
        let own = [(SCHEMA.to_owned(), schema.to_owned()), (CODEC.to_owned(), codec.name().to_owned()), created_by];
        let pairs: Vec<_> = own.iter().chain(metadata).collect();
        let mut bytes = MAGIC.to_vec();
        push_long(pairs.len() as i64, &mut bytes);
        for text in pairs.into_iter().flat_map(|(key, value)| [key, value]) {
            push_long(text.len() as i64, &mut bytes);
            bytes.extend_from_slice(text.as_bytes());
        }
        push_long(0, &mut bytes);
        let first = checksum(CrcAlgorithm::Crc64Nvme, &bytes).to_le_bytes();
        bytes.extend_from_slice(&first);
        let second = checksum(CrcAlgorithm::Crc64Nvme, &bytes).to_be_bytes();
        bytes.extend_from_slice(&second);
        seal::seal(&mut bytes);
        let sync = bytes.last_chunk().copied().unwrap_or_default();
        (bytes, sync)
    }

    /// Parses the header at the start of `bytes`; returns it with its length, or `None` if they end within it.
    ///
    /// # Errors
    /// If it is malformed.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Fault> {
        let mut rest =
            bytes.strip_prefix(MAGIC).ok_or_else(|| Fault::corrupt("the file does not begin as avro files do"))?;
        let Some(pairs) = take_map(&mut rest)? else { return Ok(None) };
        let Some((sync, rest)) = rest.split_first_chunk() else { return Ok(None) };
        let length = bytes.len() - rest.len();
        let is_own = match seal::check(&bytes[..length]) {
            Seal::Broken => return Err(Fault::corrupt("its checksum does not match")),
            Seal::Sound => true,
            Seal::None => false,
        };
        let text = |key: &str| {
            let value = pairs.iter().rfind(|(own, _)| *own == key.as_bytes()).map(|(_, value)| *value);
            value.and_then(|value| std::str::from_utf8(value).ok())
        };
        let schema = text(SCHEMA).ok_or_else(|| Fault::corrupt("it has no schema"))?.to_owned();
        let codec = text(CODEC).unwrap_or("null");
        let codec = Codec::by_name(codec)
            .ok_or_else(|| Fault::unsupported(format!("its blocks are compressed with {}", codec.escape_debug())))?;
        let is_damaged = text(CREATED_BY).is_some_and(seal::is_damaged) || pairs.contains(&(b"", b""));
        if !is_own && is_damaged {
            return Err(Fault::corrupt("it is damaged where its checksum should be"));
        }
        let utf8 = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
        let metadata = pairs.iter().filter_map(|(key, value)| Some((utf8(key)?, utf8(value)?))).collect();
        Ok(Some((Self { schema, codec, metadata, sync: *sync, is_own }, length)))
    }

    /// The value of a metadata key.
    pub(super) fn about(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }
}

/// Keys and values.
type Pairs<'a> = Vec<(&'a [u8], &'a [u8])>;

/// Takes a map of bytes off the front; `None` if the bytes end within it.
fn take_map<'a>(rest: &mut &'a [u8]) -> Result<Option<Pairs<'a>>, Fault> {
    let mut pairs = Vec::new();
    loop {
        let Some(count) = take_long(rest) else { return Ok(None) };
        if count == 0 {
            return Ok(Some(pairs));
        }
        // A negative count is followed by the length of the map block.
        if count < 0 && take_long(rest).is_none() {
            return Ok(None);
        }
        for _ in 0..count.unsigned_abs() {
            if rest
                .first_chunk::<{ varint::MAX_BYTES }>()
                .is_some_and(|bytes| take_long(&mut &bytes[..]).is_none_or(|length| length < 0))
            {
                return Err(Fault::corrupt("a key or a value has no length"));
            }
            let (Some(key), Some(value)) = (take_bytes(rest), take_bytes(rest)) else { return Ok(None) };
            pairs.push((key, value));
        }
    }
}

/// The header of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockHeader {
    pub(super) rows: u64,
    pub(super) stored: u64,
    /// The length of the block in bytes.
    pub(super) length: usize,
    /// Whether the number of rows has one byte more than it needs, which marks the last block.
    pub(super) is_last: bool,
}

/// The maximum size of a block header in bytes.
pub(super) const LONGEST_BLOCK_HEADER: usize = 2 * varint::MAX_BYTES;

impl BlockHeader {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let rows = take_long(&mut rest)?;
        let is_last = bytes.len() - rest.len() > long(rows).1;
        let stored = take_long(&mut rest)?;
        let length = bytes.len() - rest.len();
        Some(Self { rows: u64::try_from(rows).ok()?, stored: u64::try_from(stored).ok()?, length, is_last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longs_round_trip() {
        for value in [0, -1, 1, 63, 64, -64, -65, 8191, 1 << 40, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            push_long(value, &mut bytes);
            push_longer(value.clamp(-1 << 50, 1 << 50), &mut bytes);
            let mut rest = bytes.as_slice();
            assert_eq!(take_long(&mut rest), Some(value));
            assert_eq!(take_long(&mut rest), Some(value.clamp(-1 << 50, 1 << 50)));
            assert!(rest.is_empty());
        }
        assert_eq!(take_long(&mut [0xff; 12].as_slice()), None);
        assert_eq!(long(-1).0[0], 1);
    }

    #[test]
    fn headers_round_trip_and_every_flipped_bit_is_detected() {
        let about = [("brc.x".to_owned(), "y".to_owned())];
        let (bytes, sync) = Header::write("{}", Codec::Snappy, &about);
        let (header, length) = Header::read(&[&bytes[..], b"rest"].concat()).unwrap().unwrap();
        assert_eq!((length, header.sync, header.is_own), (bytes.len(), sync, true));
        assert_eq!((header.schema.as_str(), header.codec, header.about("brc.x")), ("{}", Codec::Snappy, Some("y")));
        for length in 4..bytes.len() {
            assert_eq!(Header::read(&bytes[..length]), Ok(None), "{length}");
        }
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(Header::read(&damaged), Ok(Some(_))), "bit {bit}");
        }
    }
}
