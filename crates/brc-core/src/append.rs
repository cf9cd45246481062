//! Fast appending of short byte strings to a vector: a table has millions of them.

use std::ops::Range;

/// Appends `bytes[range]`. Short strings are copied together with the bytes after them, if there are enough, and then
/// truncated: a copy of constant length is a single move without a call.
///
/// # Panics
/// If `range` is out of bounds.
#[inline(always)]
pub fn append(bytes: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
    let (rest, length) = (&bytes[range.start..], range.len());
    match (rest.first_chunk::<16>(), rest.first_chunk::<32>()) {
        (Some(few), _) if length <= few.len() => append_first(few, length, out),
        (_, Some(more)) if length <= more.len() => append_first(more, length, out),
        _ => out.extend_from_slice(&bytes[range]),
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
    fn appends_exactly_the_given_range() {
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
