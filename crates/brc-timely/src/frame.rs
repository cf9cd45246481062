//! Length-prefixed messages on a stream: four bytes of length, then the bincode encoding.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind, Read, Write};

/// Writes a value.
pub(crate) fn write(stream: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let bytes = bincode::serialize(value).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_le_bytes(), bytes.as_slice()].concat())
}

/// Reads a value of at most `max_bytes` bytes.
pub(crate) fn read<T: DeserializeOwned>(stream: &mut impl Read, max_bytes: u32) -> io::Result<T> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > max_bytes {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is too long"));
    }
    let mut bytes = vec![0; length as usize];
    stream.read_exact(&mut bytes)?;
    bincode::deserialize(&bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_values_are_checked() {
        let mut bytes = Vec::new();
        write(&mut bytes, &("text".to_owned(), 7u8)).unwrap();
        let read =
            |bytes: &[u8], max_bytes| read::<(String, u8)>(&mut { bytes }, max_bytes).map_err(|error| error.kind());
        assert_eq!(read(&bytes, 100), Ok(("text".to_owned(), 7)));
        assert_eq!(read(&bytes, 5), Err(ErrorKind::InvalidData));
        assert_eq!(read(&bytes[..9], 100), Err(ErrorKind::UnexpectedEof));
        bytes[4] = 200;
        assert_eq!(read(&bytes, 100), Err(ErrorKind::InvalidData));
    }
}
