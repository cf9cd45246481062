//! Plans requests for ranges of a file: few requests, with few unneeded bytes.

use std::ops::Range;

/// The maximum number of bytes per request: larger ranges arrive sooner as parallel requests.
pub(crate) const MAX_REQUEST_BYTES: u64 = 16 << 20;

/// All requests together fetch at most one unneeded byte per this number of needed ones,
const NEEDED_PER_WASTED: u64 = 10;

/// or this number of unneeded bytes, which arrive sooner than the response to one more request.
const MIN_WASTE_BYTES: u64 = 32 << 10;

/// The ranges to request for the given ones, in ascending order.
///
/// Neighbours are fetched together, the closest ones first, as long as the gaps between them are small in total.
pub(crate) fn requests(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut needed: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match needed.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => needed.push(range),
        }
    }
    let bytes: u64 = needed.iter().map(|range| range.end - range.start).sum();
    let joined = joined_gaps(&needed, (bytes / NEEDED_PER_WASTED).max(MIN_WASTE_BYTES));
    let mut found: Vec<Range<u64>> = Vec::new();
    for (range, is_joined) in needed.into_iter().zip(joined) {
        match found.last_mut() {
            Some(last) if is_joined && range.end - last.start <= MAX_REQUEST_BYTES => last.end = range.end,
            _ => found.push(range),
        }
    }
    found.into_iter().flat_map(|range| cut(&range)).collect()
}

/// For each range, whether the gap before it is fetched as well: the shortest gaps, at most `max_bytes` in total.
fn joined_gaps(ranges: &[Range<u64>], max_bytes: u64) -> Vec<bool> {
    let mut gaps: Vec<(u64, usize)> =
        ranges.windows(2).zip(1..).map(|(pair, number)| (pair[1].start - pair[0].end, number)).collect();
    gaps.sort_unstable();
    let mut joined = vec![false; ranges.len()];
    let mut left = max_bytes;
    for (gap, number) in gaps {
        let Some(rest) = left.checked_sub(gap) else { break };
        (left, joined[number]) = (rest, true);
    }
    joined
}

/// Splits a range into ranges of at most the maximum size.
fn cut(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let Range { start, end } = range.clone();
    let parts = (end - start).div_ceil(MAX_REQUEST_BYTES).max(1);
    let of_part = (end - start).div_ceil(parts);
    (0..parts).map(move |part| start + part * of_part..end.min(start + (part + 1) * of_part))
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn close_ranges_are_fetched_together() {
        const KIB: u64 = 1 << 10;
        let kib = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.start * KIB..range.end * KIB).collect();
        let of_kib = |ranges: &[Range<u64>], found: &[Range<u64>]| {
            let expected: Vec<_> = kib(found);
            assert_eq!(requests(kib(ranges)), expected, "{ranges:?}");
        };
        of_kib(&[0..1000, 1100..2000, 5000..6000], &[0..2000, 5000..6000]);
        of_kib(&[0..100, 120..130, 150..200], &[0..130, 150..200]);
        of_kib(&[0..100, 133..134], &[0..100, 133..134]);
        of_kib(&[0..1, 33..34], &[0..34]);
        of_kib(&[150..200, 0..100, 50..150, 7..7], &[0..200]);
        assert_eq!(requests(vec![0..MAX_REQUEST_BYTES * 2 + 2]).len(), 3);
        assert!(requests(Vec::new()).is_empty());
    }

    proptest! {
        #[test]
        fn needed_bytes_are_fetched_once(
            ranges in prop::collection::vec((0u64..1000, 0u64..50), 0..40),
            unit in 1u64..20_000,
        ) {
            let in_units = |(start, length)| start * unit..(start + length) * unit;
            let ranges: Vec<_> = ranges.into_iter().map(in_units).collect();
            let found = requests(ranges.clone());
            prop_assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let is_needed = |byte: u64| ranges.iter().any(|range| range.contains(&byte));
            let is_fetched = |byte: u64| found.iter().any(|range| range.contains(&byte));
            let (mut needed, mut wasted) = (0, 0);
            for byte in (0..1050).map(|at| at * unit) {
                prop_assert!(is_fetched(byte) || !is_needed(byte));
                needed += unit * u64::from(is_needed(byte));
                wasted += unit * u64::from(is_fetched(byte) && !is_needed(byte));
            }
            prop_assert!(wasted <= (needed / NEEDED_PER_WASTED).max(MIN_WASTE_BYTES));
        }
    }
}
