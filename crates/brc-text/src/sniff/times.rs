//! Timestamps at the starts of lines, as in logs, whose colons and commas are no delimiters.

use super::samples::Samples;
use crate::dialect::Delimiter;

/// The delimiters that would split the timestamp at the start of each line: the colons of its time of day, and the comma
/// before its milliseconds.
pub(super) fn splitting(samples: &Samples<'_>) -> Vec<Delimiter> {
    let (mut lines, mut stamps, mut commas, mut has_header) = (0, 0, 0, false);
    for line in samples.whole_lines() {
        has_header |= lines == 0 && after_stamp(line).is_none() && line.contains(&b',');
        lines += 1;
        if let Some(rest) = after_stamp(line) {
            stamps += 1;
            commas += usize::from(begins_with_fraction(rest));
        }
    }
    // Some lines continue the message of the previous one.
    let are_most = |count: usize| count > 0 && count * 10 >= lines * 9;
    let found = [(b':', are_most(stamps)), (b',', are_most(commas) && !has_header)];
    found.iter().filter(|(_, splits)| *splits).map(|(byte, _)| Delimiter::Byte(*byte)).collect()
}

/// What follows the date and time of day, such as `2024-01-31 12:30:45`, at the start of a line.
fn after_stamp(line: &[u8]) -> Option<&[u8]> {
    const FORM: &[u8] = b"0000-00-00 00:00:00";
    let line = line.strip_prefix(b"[").or_else(|| line.strip_prefix(b"\"")).unwrap_or(line);
    let (stamp, rest) = line.split_at_checked(FORM.len())?;
    let is_alike = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'-' => matches!(byte, b'-' | b'/'),
        b' ' => matches!(byte, b' ' | b'T'),
        _ => byte == form,
    };
    stamp.iter().zip(FORM).all(is_alike).then_some(rest)
}

/// Whether a comma, three digits and the message of a log follow.
fn begins_with_fraction(rest: &[u8]) -> bool {
    matches!(rest, [b',', a, b, c, after, ..] if [a, b, c].iter().all(|byte| byte.is_ascii_digit())
        && matches!(after, b' ' | b'\t' | b']' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_after_a_comma_are_part_of_a_time() {
        for (line, is_fraction) in [
            ("2024-01-05 10:00:01,037 - app - INFO - m", Some(true)),
            ("[2024-01-05T10:00:01,037] m", Some(true)),
            ("2024-01-05 10:00:01,037,5", Some(false)),
            ("2024-01-05 10:00:01,037", Some(false)),
            ("2024-01-05 10:00:01,0375 m", Some(false)),
            ("2024-01-05 10:00:01,412.5", Some(false)),
            ("2024-01-05 10:00:01,101-A", Some(false)),
            ("2024-01-05 10:00:01 m", Some(false)),
            ("2024-01-05,10:00:01,037 m", None),
        ] {
            assert_eq!(after_stamp(line.as_bytes()).map(begins_with_fraction), is_fraction, "{line}");
        }
    }
}
