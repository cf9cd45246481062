//! Character sets, and conversion to UTF-8.
//!
//! Everything after this module sees UTF-8 or the original bytes. Text is never converted from a charset that is only
//! guessed: strings keep their bytes until the user names the charset.

use crate::dialect::DialectError;
use encoding_rs::{Decoder, DecoderResult, Encoding};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// U+FEFF in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How bytes encode characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Charset {
    /// Bytes are used as they are and not checked; right for UTF-8 and its subset ASCII.
    Raw,
    /// Bytes are converted from this encoding to UTF-8; invalid bytes are an error.
    Encoded(&'static Encoding),
}

impl Charset {
    /// Checked UTF-8.
    pub const UTF_8: Charset = Charset::Encoded(&encoding_rs::UTF_8_INIT);
    /// UTF-16, little-endian, as Windows writes it.
    pub const UTF_16LE: Charset = Charset::Encoded(&encoding_rs::UTF_16LE_INIT);
    /// UTF-16, big-endian.
    pub const UTF_16BE: Charset = Charset::Encoded(&encoding_rs::UTF_16BE_INIT);
    /// Windows-1252. `latin1` is an alias for it, as on the web; it has characters where Latin-1 has control codes.
    pub const WINDOWS_1252: Charset = Charset::Encoded(&encoding_rs::WINDOWS_1252_INIT);

    /// The charset announced by a byte order mark at the start of a text, and the length of the mark in bytes.
    pub fn from_bom(prefix: &[u8]) -> Option<(Charset, usize)> {
        Encoding::for_bom(prefix).map(|(encoding, length)| (Charset::Encoded(encoding), length))
    }
}

/// A name that [`FromStr`] accepts: `raw`, or the name in the Encoding Standard (`UTF-16LE`).
impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Charset::Raw => "raw",
            Charset::Encoded(encoding) => encoding.name(),
        })
    }
}

/// The names of Windows and Python for encodings that the Encoding Standard knows by other labels.
const CODE_PAGES: [(&str, &str); 6] = [
    ("cp932", "shift_jis"),
    ("cp936", "gbk"),
    ("cp949", "euc-kr"),
    ("cp950", "big5"),
    ("cp65001", "utf-8"),
    ("mac_roman", "macintosh"),
];

/// Accepts `raw`, every label of the [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels), and code
/// pages by their numbers, in any case.
impl FromStr for Charset {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        if text.eq_ignore_ascii_case("raw") {
            return Ok(Charset::Raw);
        }
        let page = CODE_PAGES.iter().find(|(page, _)| text.eq_ignore_ascii_case(page));
        let label = page.map_or(text, |(_, label)| label);
        Encoding::for_label_no_replacement(label.as_bytes())
            .map(Charset::Encoded)
            .ok_or_else(|| DialectError::UnknownCharset { text: text.to_owned() })
    }
}

as_text!(Charset);

/// Bytes that are invalid in a charset. Returned inside an [`io::Error`] of kind
/// [`InvalidData`](io::ErrorKind::InvalidData).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{length} {bytes} at byte {offset} {are} not valid {charset}",
    bytes = if *.length == 1 { "byte" } else { "bytes" },
    are = if *.length == 1 { "is" } else { "are" }
)]
pub struct CharsetError {
    /// The charset.
    pub charset: Charset,
    /// The offset of the first invalid byte from the start of the input.
    pub offset: u64,
    /// The number of invalid bytes.
    pub length: u8,
}

/// The size of the input and of the output buffer, in bytes.
const BUFFER: usize = 64 * 1024;

/// Converts text in any charset to UTF-8, in bounded memory.
///
/// A byte order mark at the start is dropped, and overrides the charset if it contradicts it, as the Encoding Standard
/// specifies. With [`Charset::Raw`] all bytes pass through unchanged.
pub struct TextReader<R> {
    source: R,
    decoding: Option<Decoding>,
}

impl<R: Read> TextReader<R> {
    /// Reads `source`, which must be positioned at its start, as text in `charset`.
    pub fn new(source: R, charset: Charset) -> Self {
        let decoding = match charset {
            Charset::Raw => None,
            Charset::Encoded(encoding) => Some(Decoding::new(encoding.new_decoder())),
        };
        TextReader { source, decoding }
    }
}

/// Fails with a [`CharsetError`] after all text before the invalid bytes has been returned.
impl<R: Read> Read for TextReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        match &mut self.decoding {
            None => self.source.read(target),
            Some(decoding) => decoding.read(&mut self.source, target),
        }
    }
}

struct Decoding {
    decoder: Decoder,
    /// Bytes read from the source; those from `taken` on are not decoded yet.
    input: Vec<u8>,
    taken: usize,
    /// The number of bytes passed to the decoder.
    decoded: u64,
    /// Decoded UTF-8; the bytes from `given` on are not returned yet.
    output: Vec<u8>,
    given: usize,
    state: State,
}

enum State {
    Reading,
    /// The source has ended; the decoder may still hold half a character.
    SourceEnded,
    Ended,
    Failed(CharsetError),
}

impl Decoding {
    fn new(decoder: Decoder) -> Self {
        let (input, output) = (Vec::new(), Vec::new());
        Decoding { decoder, input, taken: 0, decoded: 0, output, given: 0, state: State::Reading }
    }

    fn read(&mut self, source: &mut impl Read, target: &mut [u8]) -> io::Result<usize> {
        while self.given == self.output.len() {
            match &self.state {
                State::Ended => return Ok(0),
                State::Failed(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error.clone())),
                State::Reading if self.taken == self.input.len() => self.refill(source)?,
                State::Reading | State::SourceEnded => self.decode(),
            }
        }
        let ready = &self.output[self.given..];
        let length = ready.len().min(target.len());
        target[..length].copy_from_slice(&ready[..length]);
        self.given += length;
        Ok(length)
    }

    fn refill(&mut self, source: &mut impl Read) -> io::Result<()> {
        self.input.resize(BUFFER, 0);
        let read = source.read(&mut self.input);
        self.input.truncate(*read.as_ref().unwrap_or(&0));
        self.taken = 0;
        if read? == 0 {
            self.state = State::SourceEnded;
        }
        Ok(())
    }

    fn decode(&mut self) {
        self.output.resize(BUFFER, 0);
        self.given = 0;
        let is_last = matches!(self.state, State::SourceEnded);
        let input = &self.input[self.taken..];
        let (result, taken, written) =
            self.decoder.decode_to_utf8_without_replacement(input, &mut self.output, is_last);
        self.output.truncate(written);
        self.taken += taken;
        self.decoded += taken as u64;
        match result {
            DecoderResult::InputEmpty if is_last => self.state = State::Ended,
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
            DecoderResult::Malformed(length, after) => {
                let offset = self.decoded - u64::from(length) - u64::from(after);
                let charset = Charset::Encoded(self.decoder.encoding());
                self.state = State::Failed(CharsetError { charset, offset, length });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A source that returns at most `step` bytes a call.
    struct Steps<'a>(&'a [u8], usize);

    impl Read for Steps<'_> {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(target.len());
            self.0.read(&mut target[..length])
        }
    }

    /// The text read before the end or the error, and the error.
    fn read(bytes: &[u8], step: usize, charset: Charset) -> (Vec<u8>, Option<CharsetError>) {
        let mut text = Vec::new();
        let result = TextReader::new(Steps(bytes, step), charset).read_to_end(&mut text);
        let error = result.err().map(|error| *error.into_inner().unwrap().downcast().unwrap());
        (text, error)
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    fn broken(charset: Charset, offset: u64, length: u8) -> Option<CharsetError> {
        Some(CharsetError { charset, offset, length })
    }

    #[test]
    fn names_are_labels_of_the_encoding_standard() {
        assert_eq!("latin1".parse(), Ok(Charset::WINDOWS_1252));
        assert_eq!("UTF-8".parse(), Ok(Charset::UTF_8));
        assert_eq!("utf-16".parse(), Ok(Charset::UTF_16LE));
        assert_eq!("raw".parse(), Ok(Charset::Raw));
        for (page, label) in CODE_PAGES {
            assert_eq!(page.to_uppercase().parse::<Charset>(), label.parse());
            assert!(label.parse::<Charset>().is_ok(), "{label}");
        }
        assert!("utf-7".parse::<Charset>().is_err());
        for charset in [Charset::Raw, Charset::UTF_8, Charset::UTF_16BE, Charset::WINDOWS_1252] {
            assert_eq!(charset.to_string().parse(), Ok(charset));
        }
    }

    #[test]
    fn latin1_becomes_utf_8() {
        assert_eq!(read(b"caf\xe9 \x80", 1, Charset::WINDOWS_1252), ("café €".into(), None));
    }

    #[test]
    fn a_byte_order_mark_is_dropped_and_overrides_the_charset() {
        assert_eq!(read(b"\xef\xbb\xbfa", 1, Charset::UTF_8), (b"a".to_vec(), None));
        assert_eq!(read(b"\xfe\xff\0a", 1, Charset::UTF_16LE), (b"a".to_vec(), None));
        assert_eq!(read(b"\xef\xbb\xbfa\xff", 1, Charset::Raw), (b"\xef\xbb\xbfa\xff".to_vec(), None));
        assert_eq!(Charset::from_bom(b"\xff\xfea\0"), Some((Charset::UTF_16LE, 2)));
        assert_eq!(Charset::from_bom(b"a"), None);
    }

    #[test]
    fn invalid_bytes_are_reported_with_their_offset() {
        for step in [1, 2, 3, 100] {
            assert_eq!(read(b"a,\xe9,b", step, Charset::UTF_8), (b"a,".to_vec(), broken(Charset::UTF_8, 2, 1)));
            assert_eq!(read(b"\xef\xbb\xbfa\xc3", step, Charset::UTF_8), (b"a".to_vec(), broken(Charset::UTF_8, 4, 1)));
            assert_eq!(read(b"a\0b", step, Charset::UTF_16LE), (b"a".to_vec(), broken(Charset::UTF_16LE, 2, 1)));
            let lone = [b'a', 0, 0, 0xd8, b'b', 0];
            assert_eq!(read(&lone, step, Charset::UTF_16LE), (b"a".to_vec(), broken(Charset::UTF_16LE, 2, 2)));
        }
    }

    #[test]
    fn errors_are_sticky() {
        let mut reader = TextReader::new(&b"\xff"[..], Charset::UTF_8);
        for _ in 0..2 {
            assert_eq!(reader.read(&mut [0; 8]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn long_texts_are_converted() {
        let text = "aé€😀\n".repeat(BUFFER / 4);
        let bytes = utf16(&text, u16::to_be_bytes);
        assert!(read(&bytes, BUFFER - 1, Charset::UTF_16BE) == (text.into_bytes(), None));
    }

    proptest! {
        #[test]
        fn every_text_round_trips(text in any::<String>(), step in 1_usize..9) {
            prop_assume!(!text.starts_with('\u{feff}'));
            let expected = (text.clone().into_bytes(), None);
            prop_assert_eq!(&read(&utf16(&text, u16::to_le_bytes), step, Charset::UTF_16LE), &expected);
            prop_assert_eq!(&read(&utf16(&text, u16::to_be_bytes), step, Charset::UTF_16BE), &expected);
            prop_assert_eq!(&read(text.as_bytes(), step, Charset::UTF_8), &expected);
        }

        #[test]
        fn bytes_are_checked_as_the_standard_library_does(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            prop_assume!(Charset::from_bom(&bytes).is_none());
            let (text, error) = read(&bytes, 3, Charset::UTF_8);
            match std::str::from_utf8(&bytes) {
                Ok(_) => prop_assert_eq!((text, error), (bytes, None)),
                Err(utf8) => {
                    prop_assert_eq!(&text, &bytes[..utf8.valid_up_to()]);
                    prop_assert_eq!(error.unwrap().offset, utf8.valid_up_to() as u64);
                }
            }
        }
    }
}
