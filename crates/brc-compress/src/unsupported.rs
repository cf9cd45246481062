//! Compressions that are recognised but not read, so that errors can name the command that decompresses such a file.
//!
//! A compression that becomes supported is removed from [`UNSUPPORTED`].

/// A compression that is not read.
#[derive(Debug)]
pub struct Unsupported {
    /// Its name.
    pub name: &'static str,
    /// The extensions of its files, without the dot.
    pub extensions: &'static [&'static str],
    /// The command that decompresses a file to standard output.
    pub command: &'static str,
    /// Whether a file that starts with these bytes has this format; `None` if its files have no magic number and only
    /// the extension identifies them.
    pub sniff: Option<fn(&[u8]) -> bool>,
}

/// All compressions that are recognised but not read.
pub static UNSUPPORTED: &[Unsupported] = &[
    #[cfg(not(feature = "bzip2"))]
    Unsupported { name: "bzip2", extensions: &["bz2"], command: "bzip2 -dc", sniff: Some(crate::read_only::is_bzip2) },
    #[cfg(not(feature = "xz"))]
    Unsupported { name: "xz", extensions: &["xz"], command: "xz -dc", sniff: Some(crate::read_only::is_xz) },
    // An archive is not a compression: one with a single file is read by callers that can seek.
    Unsupported {
        name: "zip",
        extensions: &["zip"],
        command: "unzip -p",
        // The second one is that of an empty archive.
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

/// The compression whose files have this extension (without the dot).
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
    fn names_and_extensions_are_unique() {
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
