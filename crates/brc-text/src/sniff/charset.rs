//! Detects the charset of a file, if it is certain.

use super::Sample;
use crate::charset::Charset;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

/// A charset and the evidence for it.
pub(super) struct CharsetFinding {
    pub(super) charset: Charset,
    pub(super) evidence: String,
    pub(super) advice: Option<String>,
}

/// The charset of a byte order mark, UTF-16 if zero bytes indicate it, or else raw bytes.
pub(super) fn find(samples: &[Sample<'_>]) -> CharsetFinding {
    let certain = |charset, evidence: &str| CharsetFinding { charset, evidence: evidence.to_owned(), advice: None };
    let start = samples.iter().find(|sample| sample.offset == 0).map_or(&[][..], |sample| sample.bytes);
    if let Some((charset, _)) = Charset::from_bom(start) {
        return certain(charset, "the file begins with its byte order mark");
    }
    if let Some(charset) = utf16(start) {
        return certain(charset, "every other byte of the plain characters is 0");
    }
    match samples.iter().find_map(invalid_utf8) {
        None => certain(Charset::Raw, "the sample is valid UTF-8, which needs no conversion"),
        Some((byte, offset)) => CharsetFinding {
            charset: Charset::Raw,
            evidence: format!("byte 0x{byte:02x} at {offset} is not UTF-8; strings keep their bytes as they are"),
            advice: Some(advice(samples, byte, offset)),
        },
    }
}

/// Up to as many times as many other bytes, characters of UTF-8 are hardly there by chance.
const MIXED: u64 = 5;

/// Advice for a text that is not UTF-8. The charset is unknown: many charsets assign a letter to each byte. But Western
/// European letters and typographic marks between ASCII characters suggest windows-1252, a superset of Latin-1; other
/// letters suggest the charset in which they are the likeliest words; and if much of the non-ASCII text is UTF-8, the
/// text is damaged or mixed rather than in a different charset.
fn advice(samples: &[Sample<'_>], byte: u8, offset: u64) -> String {
    let (mut letters, mut others, mut multibyte) = (0_u64, 0_u64, 0_u64);
    for chunk in samples.iter().flat_map(|sample| sample.bytes.utf8_chunks()) {
        multibyte += chunk.valid().chars().filter(|character| !character.is_ascii()).count() as u64;
        let [western, all] = [&is_western as &dyn Fn(&u8) -> bool, &|_| true]
            .map(|is| chunk.invalid().iter().filter(|byte| is(byte)).count() as u64);
        letters += western;
        others += all - western;
    }
    let likely = match letters + others + multibyte {
        ..FEW => encoding_rs::WINDOWS_1252,
        _ => likely_encoding(samples),
    };
    let where_it_is = match letters + others {
        bytes if bytes < multibyte => Some("except for some bytes"),
        // Pairs of bytes that are characters of another charset may be characters of UTF-8, too.
        bytes if bytes < multibyte * MIXED && likely.is_single_byte() => Some("in some places only"),
        _ => None,
    };
    if let Some(which) = where_it_is {
        return format!(
            "the text is UTF-8 {which}; other bytes, the first of them 0x{byte:02x} at byte {offset}, are kept as they are"
        );
    }
    // A few letters are no evidence of another Latin alphabet.
    let is_latin = likely == encoding_rs::WINDOWS_1252 || letters < MANY_LETTERS && LATIN.contains(&likely.name());
    let (looks, option) = match others {
        _ if !is_latin => {
            let name = likely.name();
            (format!(", and may be {name}"), format!("--charset {}", name.to_ascii_lowercase()))
        }
        0 => (", but looks like Latin-1 (windows-1252)".to_owned(), "--charset latin1".to_owned()),
        _ => (String::new(), "--charset, as in --charset latin1".to_owned()),
    };
    format!("the text is not UTF-8{looks}; strings keep their bytes as they are; to convert it, use {option}")
}

/// Fewer bytes than these are no evidence of any charset.
const FEW: u64 = 4;

/// The least number of letters that is evidence of a Latin alphabet other than the Western European one.
const MANY_LETTERS: u64 = 20;

/// The charsets of other Latin alphabets.
const LATIN: [&str; 11] = [
    "ISO-8859-2",
    "ISO-8859-3",
    "ISO-8859-4",
    "ISO-8859-10",
    "ISO-8859-13",
    "ISO-8859-14",
    "ISO-8859-16",
    "windows-1250",
    "windows-1254",
    "windows-1257",
    "windows-1258",
];

/// The encoding in which the samples are the likeliest words; windows-1252 if that has bytes that are no characters.
fn likely_encoding(samples: &[Sample<'_>]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    // A sample may start within a character; lines do not.
    let lines = || {
        samples.iter().filter_map(|sample| {
            let start = if sample.offset == 0 { 0 } else { memchr::memchr(b'\n', sample.bytes)? + 1 };
            let end = if sample.is_end { sample.bytes.len() } else { memchr::memrchr(b'\n', sample.bytes)? + 1 };
            sample.bytes.get(start..end)
        })
    };
    for lines in lines() {
        detector.feed(lines, false);
    }
    let likely = detector.guess(None, Utf8Detection::Deny);
    let is_valid = |lines: &[u8]| likely.decode_without_bom_handling_and_without_replacement(lines).is_some();
    if lines().all(is_valid) { likely } else { encoding_rs::WINDOWS_1252 }
}

/// Whether a byte is a Western European letter, or a punctuation mark of these languages, in windows-1252.
fn is_western(byte: &u8) -> bool {
    // € ‚ „ … Š ‹ Œ Ž ‘ ’ “ ” • – — ™ š › œ ž Ÿ; no-break space; ¡ £ § « ° ² ³ ´ · º » ¿; À to ÿ except × and ÷.
    matches!(
        byte,
        0x80 | 0x82 | 0x84 | 0x85 | 0x8a..=0x8c | 0x8e | 0x91..=0x97 | 0x99..=0x9c | 0x9e | 0x9f | 0xa0 | 0xa1 | 0xa3
            | 0xa7 | 0xab | 0xb0 | 0xb2..=0xb4 | 0xb7 | 0xba | 0xbb | 0xbf..=0xd6 | 0xd8..=0xf6 | 0xf8..
    )
}

/// Whether the start of a file is UTF-16 text lines without a byte order mark: ASCII characters indicate it, and no
/// other characters are control characters or unpaired surrogates. An odd number of bytes is not UTF-16.
#[must_use]
pub fn is_utf16(start: &[u8]) -> bool {
    let Some(Charset::Encoded(encoding)) = utf16(start) else { return false };
    let (text, _) = encoding.decode_without_bom_handling(start);
    // The last character may be cut off.
    let text = text.strip_suffix(char::REPLACEMENT_CHARACTER).unwrap_or(&text);
    let has_lines = start.len().is_multiple_of(2) && text.contains(['\n', '\r']);
    has_lines
        && text.chars().all(|character| {
            !character.is_control() && character != char::REPLACEMENT_CHARACTER
                || matches!(character, '\t' | '\n' | '\r')
        })
}

/// Detects UTF-16 without a byte order mark: one half of every ASCII character is a zero byte, always the same half. A
/// few zero bytes in other text are no evidence: there must be several, including a line end, and either they are most
/// of the text or the rest is not valid text in another charset.
fn utf16(start: &[u8]) -> Option<Charset> {
    let pairs = start.as_chunks::<2>().0;
    let is_text = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    let count = |is: &dyn Fn(u8, u8) -> bool| pairs.iter().filter(|[first, second]| is(*first, *second)).count();
    let little = count(&|first, second| second == 0 && is_text(first));
    let big = count(&|first, second| first == 0 && is_text(second));
    let zeros = count(&|first, second| first == 0 && second == 0);
    let charset = match (little, big) {
        _ if zeros > 0 => return None,
        (2.., 0) => Charset::UTF_16LE,
        (0, 2..) => Charset::UTF_16BE,
        _ => return None,
    };
    let is_line_end = |byte: u8| matches!(byte, b'\n' | b'\r');
    let line_ends = count(&|first, second| first == 0 && is_line_end(second) || second == 0 && is_line_end(first));
    let plain = little + big;
    // Text in any script has blanks, digits, delimiters and line ends.
    let is_likely = plain * 5 >= pairs.len() * 2 || plain * 20 >= pairs.len() && !is_text_with_zeros(start);
    (line_ends > 0 && is_likely).then_some(charset)
}

/// Whether the bytes are UTF-8 text apart from zero bytes.
fn is_text_with_zeros(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, 0 | b'\t' | b'\n' | b'\r');
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && !bytes.iter().any(is_control)
}

/// The first byte that is not UTF-8 and its offset in the file. Characters that are cut by the sample do not count.
fn invalid_utf8(sample: &Sample<'_>) -> Option<(u8, u64)> {
    let is_middle = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let cut = if sample.offset == 0 { 0 } else { sample.bytes.iter().take(3).take_while(is_middle).count() };
    let error = std::str::from_utf8(&sample.bytes[cut..]).err()?;
    if error.error_len().is_none() && !sample.is_end {
        return None;
    }
    let at = cut + error.valid_up_to();
    Some((sample.bytes[at], sample.offset + at as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charset(bytes: &[u8]) -> Charset {
        find(&[Sample::whole(bytes)]).charset
    }

    fn utf16_of(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn only_certain_charsets_are_detected() {
        assert_eq!(charset(b""), Charset::Raw);
        assert_eq!(charset("naïve,1\n".as_bytes()), Charset::Raw);
        assert_eq!(charset(b"\xef\xbb\xbfa,b\n"), Charset::UTF_8);
        assert_eq!(charset(b"\xff\xfea\0"), Charset::UTF_16LE);
        assert_eq!(charset(b"na\xefve,1\n"), Charset::Raw);
        for zeros in
            ["ab,\0,1\ncd,\0,2\n", "a,b\n1,x\0y\n2,z\n", "a,b\n1,x\0\n2,z\0\n", "a,b\n1,\0\n2,\0\n3,\0\n", "\0\n"]
        {
            assert_eq!(charset(zeros.as_bytes()), Charset::Raw, "{zeros:?}");
            assert!(!is_utf16(zeros.as_bytes()), "{zeros:?}");
        }
    }

    #[test]
    fn utf_16_is_detected_without_a_byte_order_mark() {
        for text in ["a,b\n1,2\n", "Привет, мир\nа,б\n", "日本,東京\n1,2\n"] {
            assert_eq!(charset(&utf16_of(text, u16::to_le_bytes)), Charset::UTF_16LE, "{text}");
            assert_eq!(charset(&utf16_of(text, u16::to_be_bytes)), Charset::UTF_16BE, "{text}");
            assert!(is_utf16(&utf16_of(text, u16::to_le_bytes)), "{text}");
        }
        assert!(!is_utf16(b"a,b\n1,2\n"));
        assert!(!is_utf16(b"A\0;1.0\n") && !is_utf16(b"A\0;1.0\n\n"));
        assert!(!is_utf16(b"a\0\x01\0b\0\n\0"));
    }

    #[test]
    fn invalid_utf_8_is_reported_with_its_offset() {
        let found = find(&[Sample::whole(b"na\xefve,1\n")]);
        assert!(found.evidence.contains("0xef at 2"), "{}", found.evidence);
        let expected = "the text is not UTF-8, but looks like Latin-1 (windows-1252); strings keep their bytes as \
                        they are; to convert it, use --charset latin1";
        assert_eq!(found.advice.unwrap(), expected);
        let typographic = find(&[Sample::whole(b"\x93na\xefve\x94,1\n")]).advice.unwrap();
        assert_eq!(typographic, expected);
        // A byte that is not a Western European letter.
        let other = find(&[Sample::whole(b"\x81\x8d,1\n")]).advice.unwrap();
        assert!(other.starts_with("the text is not UTF-8; strings keep") && other.contains("--charset"), "{other}");
        let damaged = find(&[Sample::whole("é è ê\n".as_bytes()), Sample::whole(b"\xff\n")]).advice.unwrap();
        assert!(
            damaged
                .starts_with("the text is UTF-8 except for some bytes; other bytes, the first of them 0xff at byte 0"),
            "{damaged}"
        );
        let mixed = find(&[Sample::whole("é\n".as_bytes()), Sample::whole(b"na\xefve\nna\xefve\n")]).advice.unwrap();
        assert!(mixed.starts_with("the text is UTF-8 in some places only") && !mixed.contains("--charset"), "{mixed}");
        let cut = "é".as_bytes();
        let samples = [
            Sample { bytes: &cut[..1], offset: 0, is_end: false },
            Sample { bytes: &cut[1..], offset: 1, is_end: true },
        ];
        assert_eq!(find(&samples).advice, None);
        assert!(find(&[Sample::whole(&cut[..1])]).advice.is_some());
    }
}
