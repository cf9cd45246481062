//! Numbers with a decimal comma or thousands separators.

use super::FormError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The separators within a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NumberForm {
    /// The decimal separator.
    pub(super) decimal: u8,
    /// The separator between groups of three digits.
    pub(super) thousands: Thousands,
}

/// A thousands separator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thousands {
    Nothing,
    Byte(u8),
    /// No-break space U+00A0, and narrow no-break space U+202F.
    NoBreak,
    NarrowNoBreak,
}

/// The no-break spaces of [`Thousands`] in UTF-8.
const NO_BREAK: &[u8] = "\u{a0}".as_bytes();
const NARROW_NO_BREAK: &[u8] = "\u{202f}".as_bytes();

impl Thousands {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Thousands::Nothing => b"",
            Thousands::Byte(byte) => std::slice::from_ref(byte),
            Thousands::NoBreak => NO_BREAK,
            Thousands::NarrowNoBreak => NARROW_NO_BREAK,
        }
    }
}

impl NumberForm {
    /// The maximum length of a number in the usual form, in bytes.
    pub const MAX_BYTES: usize = 64;

    /// A decimal comma.
    pub const COMMA: Self = Self { decimal: b',', thousands: Thousands::Nothing };

    /// A decimal comma, and points between thousands.
    pub(crate) const COMMA_AND_POINT: Self = Self { decimal: b',', thousands: Thousands::Byte(b'.') };

    /// The usual form.
    pub(crate) const POINT: Self = Self { decimal: b'.', thousands: Thousands::Nothing };

    /// The forms that are detected in values, starting with one without thousands separators.
    pub(crate) const DETECTED: [Self; 7] = [
        Self::COMMA,
        Self::COMMA_AND_POINT,
        Self { decimal: b',', thousands: Thousands::Byte(b' ') },
        Self { decimal: b',', thousands: Thousands::NoBreak },
        Self { decimal: b',', thousands: Thousands::NarrowNoBreak },
        Self { decimal: b'.', thousands: Thousands::Byte(b',') },
        Self { decimal: b'.', thousands: Thousands::Byte(b'\'') },
    ];

    /// Creates a form from a decimal separator of one byte, and a thousands separator that is empty, one byte or a
    /// no-break space.
    ///
    /// # Errors
    /// If the separators are equal, or could be part of a number.
    pub fn new(decimal: &str, thousands: &str) -> Result<Self, FormError> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_alphanumeric() && !b"+-\"".contains(&byte);
        let refused = |text: &str| FormError::Separator(text.to_owned());
        let decimal = match *decimal.as_bytes() {
            [byte] if is_plain(byte) => byte,
            _ => return Err(refused(decimal)),
        };
        let thousands = match *thousands.as_bytes() {
            [] => Thousands::Nothing,
            [byte] if is_plain(byte) || byte == b' ' => Thousands::Byte(byte),
            _ if thousands.as_bytes() == NO_BREAK => Thousands::NoBreak,
            _ if thousands.as_bytes() == NARROW_NO_BREAK => Thousands::NarrowNoBreak,
            _ => return Err(refused(thousands)),
        };
        if thousands == Thousands::Byte(decimal) {
            return Err(FormError::SameSeparator(decimal.into()));
        }
        Ok(Self { decimal, thousands })
    }

    /// The decimal separator.
    #[must_use]
    pub fn decimal(self) -> u8 {
        self.decimal
    }

    /// The thousands separator; empty if there is none.
    #[must_use]
    pub fn thousands(self) -> String {
        String::from_utf8_lossy(self.thousands.bytes()).into_owned()
    }

    /// Whether there is a thousands separator.
    #[must_use]
    pub fn has_thousands(self) -> bool {
        self.thousands != Thousands::Nothing
    }

    /// Whether that byte is the thousands separator.
    pub(crate) fn has_thousands_by(self, byte: u8) -> bool {
        self.thousands == Thousands::Byte(byte)
    }

    /// Whether this is the form in which brc writes numbers.
    #[must_use]
    pub fn is_usual(self) -> bool {
        self.decimal == b'.' && !self.has_thousands()
    }

    /// Converts a number to the usual form; `None` if it is not a number in this form. Thousands separators must be
    /// used throughout or not at all.
    pub(crate) fn canonical<'b>(self, text: &[u8], out: &'b mut [u8; Self::MAX_BYTES]) -> Option<&'b [u8]> {
        // The zero before the decimals may be missing.
        if text.len() >= Self::MAX_BYTES {
            return None;
        }
        let mut length = 0;
        let mut push = |byte: u8| {
            out[length] = byte;
            length += 1;
        };
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        if unsigned.len() < text.len() {
            push(b'-');
        }
        let end = unsigned.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(unsigned.len());
        let (mantissa, exponent) = unsigned.split_at(end);
        let (whole, decimals) = match mantissa.iter().position(|&byte| byte == self.decimal) {
            Some(at) => (&mantissa[..at], Some(&mantissa[at + 1..])),
            None => (mantissa, None),
        };
        // Only numbers without an exponent have groups of digits.
        if !is_exponent(exponent) || !exponent.is_empty() && !whole.iter().all(u8::is_ascii_digit) {
            return None;
        }
        match whole {
            [] if decimals.is_some() => push(b'0'),
            _ => self.groups(whole, &mut push)?,
        }
        if let Some(decimals) = decimals {
            if decimals.is_empty() || !decimals.iter().all(u8::is_ascii_digit) {
                return None;
            }
            push(b'.');
            decimals.iter().for_each(|&byte| push(byte));
        }
        exponent.iter().for_each(|&byte| push(byte));
        Some(&out[..length])
    }

    /// Whether a text is a number with blanks or apostrophes between thousands, whatever its decimal separator:
    /// `75 134,15`, `1'234.5`.
    pub(crate) fn has_spaced_thousands(text: &[u8]) -> bool {
        const SEPARATORS: [Thousands; 4] =
            [Thousands::Byte(b' '), Thousands::NoBreak, Thousands::NarrowNoBreak, Thousands::Byte(b'\'')];
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let is_in = |form: Self| form.canonical(text, &mut [0; Self::MAX_BYTES]).is_some();
        is_digit(text.first())
            && is_digit(text.last())
            && text.iter().any(|byte| matches!(byte, b' ' | b'\'') || !byte.is_ascii())
            && SEPARATORS
                .iter()
                .any(|thousands| [b',', b'.'].into_iter().any(|decimal| is_in(Self { decimal, thousands: *thousands })))
    }

    /// Passes the digits before the decimal separator to `push`.
    fn groups(self, whole: &[u8], push: &mut impl FnMut(u8)) -> Option<()> {
        let separator = self.thousands.bytes();
        let first = whole.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, mut rest) = whole.split_at(first);
        if digits.is_empty() || (!rest.is_empty() && first > 3) {
            return None;
        }
        digits.iter().for_each(|&byte| push(byte));
        while !rest.is_empty() {
            let group = rest.strip_prefix(separator).filter(|_| !separator.is_empty())?;
            let digits = group.get(..3).filter(|group| group.iter().all(u8::is_ascii_digit))?;
            digits.iter().for_each(|&byte| push(byte));
            rest = &group[3..];
        }
        Some(())
    }

    /// Appends a number that is given in the usual form.
    pub(super) fn write(self, canonical: &[u8], out: &mut Vec<u8>) {
        let sign = usize::from(canonical.first() == Some(&b'-'));
        let digits = canonical[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        out.extend_from_slice(&canonical[..sign]);
        for (index, digit) in canonical[sign..sign + digits].iter().enumerate() {
            if index > 0 && (digits - index).is_multiple_of(3) {
                out.extend_from_slice(self.thousands.bytes());
            }
            out.push(*digit);
        }
        let rest = canonical[sign + digits..].iter();
        out.extend(rest.map(|&byte| if byte == b'.' { self.decimal } else { byte }));
    }
}

fn is_exponent(text: &[u8]) -> bool {
    let [b'e' | b'E', rest @ ..] = text else { return text.is_empty() };
    are_signed_digits(rest)
}

/// Whether a text is digits, with or without a sign before them.
pub(crate) fn are_signed_digits(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// A sample number in this form: `1.234,5`.
impl fmt::Display for NumberForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thousands = String::from_utf8_lossy(self.thousands.bytes());
        write!(f, "1{thousands}234{}5", char::from(self.decimal))
    }
}

impl FromStr for NumberForm {
    type Err = FormError;

    fn from_str(text: &str) -> Result<Self, FormError> {
        let refused = || FormError::Separator(text.to_owned());
        let (thousands, decimal) =
            text.strip_prefix('1').and_then(|rest| rest.split_once("234")).ok_or_else(refused)?;
        Self::new(decimal.strip_suffix('5').ok_or_else(refused)?, thousands)
    }
}

as_text!(NumberForm);
