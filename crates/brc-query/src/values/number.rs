//! Decimal constants of any length.

use std::cmp::Ordering;
use std::fmt;

/// A decimal constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number {
    /// Whether it was written with an exponent: as a float.
    pub(crate) exponential: bool,
    negative: bool,
    whole: String,
    decimals: String,
}

/// Without an exponent: `-12.50`.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negative { "-" } else { "" }, self.whole)?;
        if self.decimals.is_empty() { Ok(()) } else { write!(f, ".{}", self.decimals) }
    }
}

/// No number of a column has this many digits before or after its point.
const FAR: usize = 400;

impl Number {
    /// Takes a number apart that the lexer found: an optional `-`, digits, and optionally a point and digits, and an
    /// exponent.
    pub(crate) fn new(text: &str) -> Self {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let exponential = digits.contains(['e', 'E']);
        let (digits, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
        let mut number = Self { exponential, negative, whole: whole.to_owned(), decimals: decimals.to_owned() };
        let far = if exponent.starts_with('-') { -(FAR as i64) } else { FAR as i64 };
        number.move_point(exponent.parse().unwrap_or(far).clamp(-(FAR as i64), FAR as i64));
        number
    }

    /// Multiplies by a power of ten.
    fn move_point(&mut self, exponent: i64) {
        let places = exponent.unsigned_abs() as usize;
        if exponent > 0 {
            let padded = format!("{:0<places$}", self.decimals);
            self.whole.push_str(&padded[..places]);
            self.decimals = padded[places..].to_owned();
        } else if exponent < 0 {
            let padded = format!("{:0>width$}", self.whole, width = places + 1);
            let point = padded.len() - places;
            self.decimals.insert_str(0, &padded[point..]);
            self.whole = padded[..point].to_owned();
        }
    }

    /// The number of the other sign.
    pub(crate) fn negated(self) -> Self {
        Self { negative: !self.negative, ..self }
    }

    /// How many digits it has after its point.
    pub(crate) fn scale(&self) -> usize {
        self.decimals.len()
    }

    /// How many digits it has before its point, without leading zeros.
    pub(crate) fn whole_digits(&self) -> usize {
        self.whole.trim_start_matches('0').len()
    }

    /// Whether it is written as floats are: with an exponent, or not whole.
    pub(crate) fn is_float(&self) -> bool {
        self.exponential || self.decimals.bytes().any(|digit| digit != b'0')
    }

    /// How the whole part of it compares with a float that is whole or infinite.
    pub(crate) fn compare_with_whole(&self, float: f64) -> Ordering {
        if float.is_infinite() {
            return if float < 0.0 { Ordering::Greater } else { Ordering::Less };
        }
        let (ours, theirs) = (self.whole.trim_start_matches('0'), format!("{:.0}", float.abs()));
        let theirs = theirs.trim_start_matches('0');
        let sign = |negative: bool, digits: &str| if digits.is_empty() { 0 } else { 1 - 2 * i8::from(negative) };
        let signs = [sign(self.negative, ours), sign(float < 0.0, theirs)];
        let order = (ours.len(), ours).cmp(&(theirs.len(), theirs));
        match signs[0].cmp(&signs[1]) {
            Ordering::Equal if signs[0] < 0 => order.reverse(),
            Ordering::Equal => order,
            different => different,
        }
    }

    /// The float nearest to it.
    pub(crate) fn to_float(&self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The largest integer not above the number times ten to the power of `scale`, and whether it equals that. Beyond
    /// 127 bits it is only as exact as to stay beyond all numbers that columns have.
    pub(crate) fn floor(&self, scale: u8) -> (i128, bool) {
        let scale = usize::from(scale);
        let (kept, cut) = self.decimals.split_at(scale.min(self.decimals.len()));
        let zeros = scale - kept.len();
        let digits = self.whole.bytes().chain(kept.bytes()).chain(std::iter::repeat_n(b'0', zeros));
        let truncated =
            digits.fold(0i128, |value, digit| value.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
        let exact = cut.bytes().all(|digit| digit == b'0');
        match (self.negative, exact) {
            (false, _) => (truncated, exact),
            (true, true) => (-truncated, true),
            (true, false) => (-truncated - 1, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_move_the_point() {
        for (text, floor, exact, float) in [
            ("1e5", 10_000_000, true, 1e5),
            ("-12.345E+2", -123_450, true, -1234.5),
            ("12345e-2", 12_345, true, 123.45),
            ("1.5e-2", 1, false, 0.015),
            ("-1.5e-3", -1, false, -0.0015),
            ("0e9", 0, true, 0.0),
            ("5e-9999", 0, false, 0.0),
        ] {
            let number = Number::new(text);
            assert_eq!((number.floor(2), number.to_float()), ((floor, exact), float), "{text}");
        }
        assert_eq!(Number::new("1e9999").floor(0).0, i128::MAX);
    }
}
