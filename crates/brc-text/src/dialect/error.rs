//! Why a dialect is invalid.

use super::Byte;
use crate::charset::Charset;

/// Why a dialect, or a part of one, is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialectError {
    /// A delimiter, quote or escape that is not exactly one byte.
    #[error("'{text}' is not a single byte; use a character, tab, space, or a code such as \\x01")]
    NotOneByte {
        /// The value that was given.
        text: String,
    },
    /// An unknown line end.
    #[error("unknown line end '{text}' (line ends: lf, crlf, cr)")]
    UnknownLineEnd {
        /// The value that was given.
        text: String,
    },
    /// An unknown charset name.
    #[error(
        "unknown charset '{text}' (charsets: utf-8, utf-16le, utf-16be, latin1, windows-1252 and others of the web)"
    )]
    UnknownCharset {
        /// The value that was given.
        text: String,
    },
    /// One byte with two meanings.
    #[error("{byte} can't be both the {other} and the {part}")]
    Same {
        /// The part that was checked second.
        part: &'static str,
        /// The part with the same byte.
        other: &'static str,
        /// The byte.
        byte: Byte,
    },
    /// A line end used as another part.
    #[error("a line end can't be part of the {part}")]
    LineEnd {
        /// The part.
        part: &'static str,
    },
    /// A byte above 127 in a text that is converted to UTF-8, where it never occurs alone.
    #[error("the {part} {byte} is not ASCII, which charset {charset} needs")]
    NotAscii {
        /// The part.
        part: &'static str,
        /// The byte.
        byte: Byte,
        /// The charset.
        charset: Charset,
    },
    /// A byte with two meanings, one of which may be the line end.
    #[error("{byte} can't have two meanings")]
    Taken {
        /// The byte.
        byte: Byte,
    },
    /// A part that is not supported for reading.
    #[error("{what} is not supported")]
    Unsupported {
        /// The part.
        what: &'static str,
    },
    /// An empty comment prefix, which would make every line a comment.
    #[error("an empty comment prefix would make every line a comment")]
    EmptyComment,
}
