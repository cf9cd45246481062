//! Compressions that are recognised but not read: whoever has such a file is told how to decompress it, instead of that
//! the table in it is strange.
//!
//! Supporting one takes its entry out of [`UNSUPPORTED`].

/// A compression that is not read.
#[derive(Debug)]
pub struct Unsupported {
    /// Its name.
    pub name: &'static str,
    /// The extensions of its files, without the dot.
    pub extensions: &'static [&'static str],
    /// The command that decompresses a file to standard output.
    pub command: &'static str,
    /// Whether a file starts as one of its files does; `None` if nothing in its files tells them, so that only the
    /// extension does.
    pub sniff: Option<fn(&[u8]) -> bool>,
}

/// All compressions that are recognised but not read.
pub static UNSUPPORTED: &[Unsupported] = &[
    #[cfg(not(feature = "bzip2"))]
    Unsupported { name: "bzip2", extensions: &["bz2"], command: "bzip2 -dc", sniff: Some(crate::read_only::is_bzip2) },
    #[cfg(not(feature = "xz"))]
    Unsupported { name: "xz", extensions: &["xz"], command: "xz -dc", sniff: Some(crate::read_only::is_xz) },
    // An archive is no compression: one with a single file is read by those who can seek in it.
    Unsupported {
        name: "zip",
        extensions: &["zip"],
        command: "unzip -p",
        // The second is that of an archive without files.
        sniff: Some(|prefix| prefix.starts_with(b"PK\x03\x04") || prefix.starts_with(b"PK\x05\x06")),
    },
    Unsupported {
        name: "7z",
        extensions: &["7z"],
        command: "7z x -so",
        sniff: Some(|prefix| prefix.starts_with(b"7z\xbc\xaf\x27\x1c")),
    },
    Unsupported { name: "brotli", extensions: &["br"], command: "brotli -dc", sniff: None },
];

/// The compression of a file that starts with these bytes.
#[must_use]
pub fn by_prefix(prefix: &[u8]) -> Option<&'static Unsupported> {
    UNSUPPORTED.iter().find(|compression| compression.sniff.is_some_and(|sniff| sniff(prefix)))
}

/// The compression whose files have that extension (without the dot).
#[must_use]
pub fn by_extension(extension: &str) -> Option<&'static Unsupported> {
    let is_its = |own: &&str| own.eq_ignore_ascii_case(extension);
    UNSUPPORTED.iter().find(|compression| compression.extensions.iter().any(is_its))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COMPRESSIONS;

    #[test]
    fn no_name_or_extension_is_also_that_of_a_compression_that_is_read() {
        for compression in UNSUPPORTED {
            assert!(crate::by_name(compression.name).is_none(), "{}", compression.name);
            assert!(compression.command.contains(' '));
            for extension in compression.extensions {
                assert!(crate::by_extension(extension).is_none(), "{extension}");
                assert_eq!(by_extension(&extension.to_uppercase()).unwrap().name, compression.name);
            }
        }
        assert!(COMPRESSIONS.iter().all(|compression| by_extension(compression.name()).is_none()));
    }

    #[test]
    fn text_and_cut_magics_are_not_recognised() {
        for text in ["BZh9;1.0\n", "BZh91AY;1.0\n", "PK;1.0\n", "7z;1.0\n", "7zXZ;1.0\n", "BZh", ""] {
            assert!(by_prefix(text.as_bytes()).is_none(), "{text}");
        }
    }
}
