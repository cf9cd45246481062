//! Locations in a file, for messages.

use std::fmt;

/// A block of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Location<'a> {
    Data { row_group: usize, column: &'a str, block: usize },
    RunIndex { row_group: usize, column: &'a str },
    Dictionary { column: &'a str, block: usize },
    DictionaryTokens { column: &'a str, part: usize },
    Counts { column: &'a str },
    Parameters { row_group: usize, column: &'a str },
    Tokens { row_group: usize, column: &'a str },
    ChunkDictionary { row_group: usize, column: &'a str, block: usize },
    Validity { row_group: usize, column: &'a str, block: usize },
    Unused { index: usize },
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data { row_group, column, block } => {
                write!(f, "row group {row_group}, column '{column}', block {block}")
            }
            Self::RunIndex { row_group, column } => {
                write!(f, "row group {row_group}, column '{column}', run index")
            }
            Self::Dictionary { column, block } => write!(f, "dictionary of column '{column}', block {block}"),
            Self::DictionaryTokens { column, part } => {
                write!(f, "dictionary of column '{column}', tokens of part {part}")
            }
            Self::Counts { column } => write!(f, "counts of the values of column '{column}'"),
            Self::Parameters { row_group, column } => write!(f, "row group {row_group}, column '{column}', parameters"),
            Self::Tokens { row_group, column } => write!(f, "row group {row_group}, column '{column}', tokens"),
            Self::ChunkDictionary { row_group, column, block } => {
                write!(f, "row group {row_group}, column '{column}', dictionary block {block}")
            }
            Self::Validity { row_group, column, block } => {
                write!(f, "row group {row_group}, column '{column}', validity of block {block}")
            }
            Self::Unused { index } => write!(f, "unused bytes {index}"),
        }
    }
}
