//! Minimum and maximum of many values. The iterator methods compare references with a call per value, which takes
//! longer than most other work on the values.

/// The minimum and maximum number; `None` if there are none.
#[must_use]
pub fn bounds<T: Copy + Ord>(values: &[T]) -> Option<(T, T)> {
    let (&first, rest) = values.split_first()?;
    Some(rest.iter().fold((first, first), |(min, max), &value| (min.min(value), max.max(value))))
}

/// The minimum and maximum byte string; `None` if there are none.
pub fn string_bounds<'a>(mut values: impl Iterator<Item = &'a [u8]>) -> Option<(&'a [u8], &'a [u8])> {
    let first = values.next()?;
    let (mut min, mut max) = ((prefix(first), first), (prefix(first), first));
    for value in values {
        let prefix = prefix(value);
        // Most values lie strictly between the bounds, so the prefix decides.
        if prefix <= min.0 && (prefix, value) < min {
            min = (prefix, value);
        }
        if prefix >= max.0 && (prefix, value) > max {
            max = (prefix, value);
        }
    }
    Some((min.1, max.1))
}

/// The first eight bytes as an integer with the same order; shorter values are padded with zeros.
#[must_use]
#[inline]
pub fn prefix(value: &[u8]) -> u64 {
    if let Some(bytes) = value.first_chunk() {
        return u64::from_be_bytes(*bytes);
    }
    let mut padded = [0; 8];
    padded[..value.len()].copy_from_slice(value);
    u64::from_be_bytes(padded)
}

/// The first string above all strings with this prefix; `None` if there is none.
#[must_use]
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while end.pop_if(|last| *last == u8::MAX).is_some() {}
    *end.last_mut()? += 1;
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bounds_match_iterator_min_and_max(
            numbers in prop::collection::vec(-3i64..3, 0..9),
            strings in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0u8), Just(b'a'), Just(255)], 0..12), 0..9),
        ) {
            prop_assert_eq!(bounds(&numbers), numbers.iter().copied().min().zip(numbers.iter().copied().max()));
            let strings = || strings.iter().map(Vec::as_slice);
            prop_assert_eq!(string_bounds(strings()), strings().min().zip(strings().max()));
        }
    }
}
