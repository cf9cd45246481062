//! Appends short byte strings to a vector quickly: a table has millions of them.

use std::ops::Range;

/// Appends some of the bytes. Where these are few and others lie behind them, they are copied with some of those: a copy of so
/// many bytes that are known is one move, and no call.
///
/// # Panics
/// If they are not all there.
#[inline(always)]
pub fn append(bytes: &[u8], place: Range<usize>, out: &mut Vec<u8>) {
    let (rest, length) = (&bytes[place.start..], place.len());
    match (rest.first_chunk::<16>(), rest.first_chunk::<32>()) {
        (Some(few), _) if length <= few.len() => append_first(few, length, out),
        (_, Some(more)) if length <= more.len() => append_first(more, length, out),
        _ => out.extend_from_slice(&bytes[place]),
    }
}

#[inline(always)]
fn append_first<const N: usize>(bytes: &[u8; N], length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(bytes);
    out.truncate(out.len() - (N - length));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_is_what_is_there() {
        let bytes: Vec<u8> = (0..70).collect();
        for start in 0..bytes.len() {
            for end in start..=bytes.len() {
                let mut out = vec![b'x'];
                append(&bytes, start..end, &mut out);
                assert_eq!((out[0], &out[1..]), (b'x', &bytes[start..end]));
            }
        }
    }
}
