//! Formats numbers for people: `1,000,000` rows, `1.38 GB`.

use brc_core::decimal;

/// A size in bytes with three digits: `999 B`, `1.38 GB` (powers of 1000).
#[must_use]
pub fn bytes(size: u64) -> String {
    let mut value = size as f64;
    for unit in ["B", "kB", "MB", "GB", "TB"] {
        if value < 999.5 || unit == "TB" {
            return if unit == "B" { format!("{size} B") } else { format!("{} {unit}", digits(value)) };
        }
        value /= 1000.0;
    }
    unreachable!("the largest unit takes any size")
}

/// [`bytes`] of a computed size.
pub(crate) fn rounded_bytes(size: f64) -> String {
    bytes(size as u64)
}

/// A time with three digits: `830 µs`, `5.12 ms`, `1.23 s`.
#[must_use]
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        short if short < 999.5e3 => (nanoseconds / 1e3, "µs"),
        middle if middle < 999.5e6 => (nanoseconds / 1e6, "ms"),
        _ => (nanoseconds / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A number with at least three significant digits; all digits before the decimal point are kept.
#[must_use]
pub fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// A number of rows: `1 row`, `2,000 rows`.
#[must_use]
pub fn rows(number: u64) -> String {
    if number == 1 { "1 row".to_owned() } else { format!("{} rows", count(number)) }
}

/// A count with commas between thousands.
#[must_use]
pub fn count(number: u64) -> String {
    decimal::with_thousands(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_are_written() {
        for (size, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (9_994, "9.99 kB"),
            (1_379_500_000, "1.38 GB"),
            (240_300_000, "240 MB"),
            (999_600, "1.00 MB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(bytes(size), text);
        }
        for (nanoseconds, text) in [
            (0.0, "0.00 µs"),
            (999.4e3, "999 µs"),
            (999.6e3, "1.00 ms"),
            (5.117e6, "5.12 ms"),
            (12.34e6, "12.3 ms"),
            (1.5e9, "1.50 s"),
            (4_321e9, "4321 s"),
        ] {
            assert_eq!(time(nanoseconds), text);
        }
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
