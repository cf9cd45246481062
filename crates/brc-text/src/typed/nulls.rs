//! The null tokens of a dialect.

/// The unquoted fields that are null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NullTokens {
    empty: bool,
    others: Vec<Vec<u8>>,
}

impl NullTokens {
    /// A set of these tokens.
    pub fn new<S: AsRef<[u8]>>(tokens: impl IntoIterator<Item = S>) -> Self {
        let tokens: Vec<Vec<u8>> = tokens.into_iter().map(|token| token.as_ref().to_vec()).collect();
        let (empty, others) = tokens.into_iter().partition::<Vec<_>, _>(Vec::is_empty);
        Self { empty: !empty.is_empty(), others }
    }

    /// Whether an unquoted field is null.
    #[inline]
    #[must_use]
    pub fn contain(&self, field: &[u8]) -> bool {
        if field.is_empty() { self.empty } else { self.others.iter().any(|token| token == field) }
    }

    /// Whether only the empty field, if any, is null.
    pub(super) fn are_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// Whether some token may look like a number or date.
    pub(super) fn may_be_values(&self) -> bool {
        self.others.iter().any(|token| matches!(token.first(), Some(b'0'..=b'9' | b'-' | b'.')))
    }

    /// The token to write; `None` if no unquoted field is null.
    #[must_use]
    pub fn first(&self) -> Option<&[u8]> {
        if self.empty { Some(b"") } else { self.others.first().map(Vec::as_slice) }
    }
}
