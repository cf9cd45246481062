//! Parses numbers as people write them: `100M` rows, `64G`, `10min`. Formatting is shared with the reports of
//! brc-compare.

pub(crate) use brc_compare::quantity::{bytes, count};

use std::time::Duration;

/// Parses a count: digits, optionally with `,` or `_` before each group of three, and optionally `k`, `M`, `G` or `B`
/// for thousands, millions and billions.
///
/// # Errors
/// A message about the text.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    parse(text, 1000, &[("k", 1), ("K", 1), ("M", 2), ("G", 3), ("B", 3)])
}

/// Parses a size in bytes: like [`parse_count`], but `k`, `M` and `G` are powers of 1024.
///
/// # Errors
/// A message about the text.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    parse(text, 1024, &[("k", 1), ("K", 1), ("M", 2), ("G", 3)])
}

fn parse(text: &str, base: u64, units: &[(&str, u32)]) -> Result<u64, String> {
    let (digits, factor) =
        units.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, base.pow(*power)))).unwrap_or((text, 1));
    let mut groups = digits.split(['_', ',']);
    let are_groups = groups.next().is_some_and(|first| !first.is_empty()) && groups.all(|group| group.len() == 3);
    let plain = digits.replace(['_', ','], "");
    if !are_groups || !plain.bytes().all(|byte| byte.is_ascii_digit()) {
        let units: Vec<&str> = units.iter().map(|(unit, _)| *unit).collect();
        return Err(format!("not a whole number, optionally followed by one of {}", units.join(", ")));
    }
    let number: Option<u64> = plain.parse().ok();
    number.and_then(|number| number.checked_mul(factor)).ok_or_else(|| "too large".to_owned())
}

/// Parses a duration: digits followed by `ms`, `s`, `min` or `h`.
///
/// # Errors
/// A message about the text.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1), ("s", 1000), ("min", 60_000), ("h", 3_600_000)];
    let read = units.into_iter().find_map(|(unit, milliseconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(milliseconds).map(Duration::from_millis)
    });
    match read {
        Some(Duration::ZERO) => Err("must be more than zero".to_owned()),
        Some(duration) => Ok(duration),
        None => Err("not a whole number followed by ms, s, min or h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_are_read() {
        for (text, number) in [
            ("0", 0),
            ("1000", 1000),
            ("1_000_000", 1_000_000),
            ("12,500k", 12_500_000),
            ("5k", 5000),
            ("100M", 100_000_000),
            ("1B", 1_000_000_000),
        ] {
            assert_eq!(parse_count(text), Ok(number), "{text}");
        }
        assert_eq!(parse_bytes("16M"), Ok(16 << 20));
        for text in ["", "M", "1.5M", "-1", "_1", "1MM", "1 M", "99999999999G", "0x10", "1,5M", "1__000", "1_"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
        assert!(parse_bytes("1B").is_err());
    }

    #[test]
    fn durations_are_read() {
        for (text, milliseconds) in [("20ms", 20), ("3s", 3000), ("10min", 600_000), ("2h", 7_200_000)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "0s", "10", "-1s", "1.5s", "1d", "99999999999999999999s", "18446744073709551615h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn printed_counts_are_read() {
        for number in [0, 12, 123, 1234, 1_234_567] {
            assert_eq!(parse_count(&count(number)), Ok(number));
        }
    }
}
