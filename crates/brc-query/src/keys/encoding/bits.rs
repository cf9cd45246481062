//! Reads and writes runs of up to 64 bits that begin anywhere in a tuple of words, counted from the uppermost bit of
//! the first word.

/// How many bits a number takes that is no larger.
pub(crate) fn bits_of(largest: u64) -> u32 {
    64 - largest.leading_zeros()
}

/// Some bits of a tuple.
pub(crate) fn get(tuple: &[u64], start: u32, bits: u32) -> u64 {
    let (word, used) = ((start / 64) as usize, start % 64);
    match bits {
        0 => 0,
        _ if used + bits <= 64 => tuple[word] << used >> (64 - bits),
        _ => (tuple[word] << used >> (64 - bits)) | tuple[word + 1] >> (128 - used - bits),
    }
}

/// Sets bits that are 0 so far.
pub(crate) fn set(tuple: &mut [u64], start: u32, bits: u32, value: u64) {
    let (word, used) = ((start / 64) as usize, start % 64);
    let room = 64 - used;
    if bits <= room {
        if bits > 0 {
            tuple[word] |= value << (room - bits);
        }
    } else {
        tuple[word] |= value >> (bits - room);
        tuple[word + 1] |= value << (64 - (bits - room));
    }
}

/// Appends the bits that [`get`] reads from each of the contiguous tuples of `width` words, mapped by `of`.
#[inline(always)]
pub(crate) fn get_all<T: Clone>(
    tuples: &[u64],
    width: usize,
    start: u32,
    bits: u32,
    of: impl Fn(u64) -> T,
    all: &mut Vec<T>,
) {
    let (word, used) = ((start / 64) as usize, start % 64);
    match bits {
        0 => all.resize(all.len() + tuples.len() / width, of(0)),
        // Where tuples are words, a loop over them is one of vectors.
        _ if width == 1 => all.extend(tuples.iter().map(|word| of(word << used >> (64 - bits)))),
        _ if used + bits <= 64 => {
            all.extend(tuples.chunks_exact(width).map(|tuple| of(tuple[word] << used >> (64 - bits))));
        }
        _ => {
            let (left, right) = (64 - bits, 128 - used - bits);
            let of = |tuple: &[u64]| of((tuple[word] << used >> left) | tuple[word + 1] >> right);
            all.extend(tuples.chunks_exact(width).map(of));
        }
    }
}

/// [`set`] for each of the contiguous tuples of `width` words.
pub(crate) fn set_all(tuples: &mut [u64], width: usize, start: u32, bits: u32, column_words: &[u64]) {
    let (word, used) = ((start / 64) as usize, start % 64);
    let room = 64 - used;
    if bits == 0 {
    } else if bits <= room {
        let shift = room - bits;
        if width == 1 {
            return tuples.iter_mut().zip(column_words).for_each(|(tuple, &value)| *tuple |= value << shift);
        }
        tuples.chunks_exact_mut(width).zip(column_words).for_each(|(tuple, &value)| tuple[word] |= value << shift);
    } else {
        let (right, left) = (bits - room, 64 - (bits - room));
        for (tuple, &value) in tuples.chunks_exact_mut(width).zip(column_words) {
            tuple[word] |= value >> right;
            tuple[word + 1] |= value << left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_come_back(values in prop::collection::vec(any::<u64>(), 1..9), start in 0u32..128, bits in 0u32..65) {
            let values: Vec<u64> = values.iter().map(|value| value.checked_shr(64 - bits).unwrap_or(0)).collect();
            let mut tuples = vec![0; values.len() * 3];
            set_all(&mut tuples, 3, start, bits, &values);
            if start + bits <= 64 {
                let (mut words, mut column_words) = (vec![0; values.len()], Vec::new());
                set_all(&mut words, 1, start, bits, &values);
                get_all(&words, 1, start, bits, |bits| bits, &mut column_words);
                prop_assert_eq!(&column_words, &values);
            }
            let mut column_words = Vec::new();
            get_all(&tuples, 3, start, bits, |bits| bits, &mut column_words);
            prop_assert_eq!(&column_words, &values);
            for (tuple, &value) in tuples.chunks_exact(3).zip(&values) {
                prop_assert_eq!(get(tuple, start, bits), value);
                let mut alone = [0; 3];
                set(&mut alone, start, bits, value);
                prop_assert_eq!(&alone, tuple);
            }
        }
    }
}
