//! Syntax errors, with their position in the text.

use brc_core::{Error, WantedText};

/// What is wrong with a text that a user wrote, and where. It displays as the message, the line, and a caret below; of
/// several lines it says which.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{place}\n  {line}\n  {caret:>width$}", place = self.place(), line = self.shown().0, caret = '^',
        width = self.shown().1 + 1)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// The byte of `source` at which it is, from 0.
    pub position: usize,
    /// The whole text.
    pub source_text: String,
    /// The columns, as far as they are known, for whose types alone it is wrong; `None` if it is wrong for any.
    pub types_of: Option<Vec<usize>>,
    /// The columns of which it needs the null tokens as text.
    pub as_text: Vec<WantedText>,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, position: usize, source: &str) -> Self {
        Self { message: message.into(), position, source_text: source.to_owned(), types_of: None, as_text: Vec::new() }
    }

    /// The same error, which these columns would not have if they were of other types.
    pub(crate) fn of_types(self, columns: Vec<usize>) -> Self {
        Self { types_of: Some(columns), ..self }
    }

    /// The same error, which would not be if these columns had their null tokens as text.
    pub(crate) fn wanting(mut self, as_text: impl IntoIterator<Item = WantedText>) -> Self {
        self.as_text.extend(as_text);
        self
    }

    /// The error with what may help after it.
    pub(crate) fn with_hint(self, hint: &str) -> Self {
        Self { message: self.message + hint, ..self }
    }

    /// ` (line 2, column 15)`, where there are several lines.
    fn place(&self) -> String {
        if !self.source_text.trim().contains('\n') {
            return String::new();
        }
        let before = self.source_text.get(..self.position).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&character| character != '\n').count() + 1;
        format!(" (line {line}, column {column})")
    }

    /// The part of the line around the position as it fits a terminal, and how many characters stand before the
    /// position.
    fn shown(&self) -> (String, usize) {
        const AROUND: usize = 60;
        let printable = |character: char| if character.is_control() { ' ' } else { character };
        let whole = self.source_text.get(..self.position).unwrap_or_default();
        let line = whole.rfind('\n').map_or(0, |end| end + 1);
        let before: Vec<char> = whole[line..].chars().collect();
        let after = self.source_text.get(self.position..).unwrap_or_default();
        let after = after.chars().take_while(|&character| character != '\n');
        let cut = before.len().saturating_sub(AROUND);
        let line = before[cut..].iter().copied().chain(after.take(AROUND)).map(printable).collect();
        (line, before.len() - cut)
    }
}

impl From<SyntaxError> for Error {
    fn from(error: SyntaxError) -> Self {
        let message = error.to_string();
        match error.types_of {
            Some(columns) => Self::TypeMismatch { message, columns, as_text: error.as_text },
            None => Self::Usage(message),
        }
    }
}
