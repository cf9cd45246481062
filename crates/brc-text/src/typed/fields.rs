//! Turns fields into values: without quotes, escapes and surrounding blanks, or null.

use super::nulls::NullTokens;
use super::values::Text;
use crate::rows::{ColumnFields, Field};
use crate::unquote::{between_brackets, unquote, within_blanks};
use brc_kernels::fields::FieldColumn;
use brc_kernels::structure::Syntax;
use memchr::memchr;
use std::borrow::Cow;

/// The rules for turning fields into values, for all columns.
#[derive(Clone, Copy)]
pub(super) struct FieldRules<'a> {
    syntax: &'a Syntax,
    nulls: &'a NullTokens,
    /// Whether null tokens are recognised in columns of inferred type.
    pub(super) infer_nulls: bool,
    trim: bool,
    /// Whether some null token may look like a number or date.
    has_odd_nulls: bool,
    /// The quote, if the text between a pair of quotes is the value unless it contains another quote.
    plain_quote: Option<u8>,
}

impl<'a> FieldRules<'a> {
    pub(super) fn new(syntax: &'a Syntax, nulls: &'a NullTokens, infer_nulls: bool, trim: bool) -> Self {
        // No number or time contains such a quote.
        let is_plain = |quote: &u8| syntax.escape().is_none() && matches!(quote, b'"' | b'\'' | b'`');
        let plain_quote = syntax.quote().filter(is_plain);
        Self { syntax, nulls, infer_nulls, trim, has_odd_nulls: nulls.may_be_values(), plain_quote }
    }

    /// The fields of a column for kernels that parse numbers, dates and the like; `None` if a value may be a null
    /// token.
    pub(super) fn for_kernels<'f>(&self, fields: &ColumnFields<'f>) -> Option<FieldColumn<'f>> {
        fields.between(self.plain_quote).filter(|_| !self.has_odd_nulls)
    }

    /// The fields of a column for the string kernel, which supports no null token but the empty one.
    pub(super) fn strings_for_kernels<'f>(&self, fields: &ColumnFields<'f>) -> Option<FieldColumn<'f>> {
        fields.between(self.plain_quote).filter(|_| !self.trim && self.nulls.are_empty())
    }

    /// The text to parse a number, date or the like from; `None` if the field is null or needs the slow path.
    #[inline(always)]
    pub(super) fn usual<'f>(&self, field: Field<'f>) -> Option<Text<'f>> {
        if field.is_quoted {
            self.between_quotes(field)
        } else {
            (!self.nulls.contain(field.bytes)).then_some(Text::new(field.tail, field.bytes.len()))
        }
    }

    /// A string; `None` if the field is null or needs the slow path.
    #[inline(always)]
    pub(super) fn usual_string<'f>(&self, field: Field<'f>) -> Option<Text<'f>> {
        let value = if self.trim { None } else { self.usual(field) };
        value.filter(|value| !field.is_quoted || memchr(field.bytes[0], value.bytes()).is_none())
    }

    #[inline(always)]
    fn between_quotes<'f>(&self, field: Field<'f>) -> Option<Text<'f>> {
        match field.bytes {
            [first, inner @ .., last] if first == last && self.plain_quote == Some(*first) => {
                Some(Text::new(&field.tail[1..], inner.len()))
            }
            _ => between_brackets(self.syntax, field.bytes).map(|inner| Text::new(&field.tail[1..], inner.len())),
        }
    }

    /// The value of a field; `None` if it is null.
    #[inline]
    pub(super) fn value<'f>(&self, field: Field<'f>) -> Option<Cow<'f, [u8]>> {
        if !field.is_quoted && !self.trim {
            return (!self.nulls.contain(field.bytes)).then_some(Cow::Borrowed(field.bytes));
        }
        self.slow_value(field)
    }

    #[cold]
    fn slow_value<'f>(&self, field: Field<'f>) -> Option<Cow<'f, [u8]>> {
        let mut bytes = field.bytes;
        let is_in_quotes = |bytes: &[u8]| self.syntax.quote().is_some_and(|quote| bytes.first() == Some(&quote));
        if self.trim {
            bytes = &bytes[within_blanks(bytes)];
        }
        let is_closed = bytes.len() > 1 && bytes.last() == bytes.first();
        if !is_in_quotes(bytes) && (self.nulls.contain(bytes) || self.is_escaped_null(bytes)) {
            return None;
        }
        if !(field.is_quoted || self.trim && is_in_quotes(bytes) && is_closed) {
            return Some(Cow::Borrowed(bytes));
        }
        let mut value = Vec::with_capacity(bytes.len());
        unquote(self.syntax, bytes, &mut value);
        Some(Cow::Owned(value))
    }

    /// Whether a field is `\N`, which is null, not an escaped letter, in the texts of MySQL and PostgreSQL with escapes.
    fn is_escaped_null(&self, field: &[u8]) -> bool {
        field == b"\\N" && self.syntax.escape() == Some(b'\\') && self.infer_nulls
    }
}
