//! Keys that a file is sorted by: every new tuple is larger than all before, so that one that is not the last is new. Nothing is
//! hashed, neither to number tuples nor to find those that two workers have.

use std::cmp::Ordering;

/// Replaces `numbers` by those of tuples among ascending `tuples`, to which new ones are appended; `false` if they do not ascend,
/// and nothing is appended.
pub(super) fn number_ascending<const WIDTH: usize>(
    packed: &[u64],
    tuples: &mut Vec<u64>,
    numbers: &mut Vec<u32>,
) -> bool {
    let before = tuples.len();
    let packed = packed.as_chunks::<WIDTH>().0;
    numbers.clear();
    let Some(first) = packed.first() else { return true };
    if tuples.is_empty() {
        tuples.extend_from_slice(first);
    }
    let mut count = tuples.len() / WIDTH;
    tuples.resize((count + packed.len() + 1) * WIDTH, 0);
    let places = tuples.as_chunks_mut::<WIDTH>().0;
    let (mut last, mut descends) = (places[count - 1], false);
    numbers.extend(packed.iter().map(|tuple| {
        // Without a branch: nobody knows where the rows of a key end.
        places[count] = *tuple;
        count += usize::from(*tuple != last);
        descends |= *tuple < last;
        last = *tuple;
        count as u32 - 1
    }));
    tuples.truncate(if descends { before } else { count * WIDTH });
    !descends
}

/// The places of equal tuples in two lists that ascend.
pub(super) fn common<const WIDTH: usize>(ours: &[u64], theirs: &[u64]) -> Vec<(u32, u32)> {
    let (ours, theirs) = (ours.as_chunks::<WIDTH>().0, theirs.as_chunks::<WIDTH>().0);
    let (mut one, mut two, mut common) = (0, 0, Vec::new());
    while let (Some(our), Some(their)) = (ours.get(one), theirs.get(two)) {
        match our.cmp(their) {
            Ordering::Less => one += advance(&ours[one..], their),
            Ordering::Greater => two += advance(&theirs[two..], our),
            Ordering::Equal => {
                common.push((one as u32, two as u32));
                (one, two) = (one + 1, two + 1);
            }
        }
    }
    common
}

/// How many of the first of ascending tuples are below one, where the first is: mostly many.
fn advance<const WIDTH: usize>(tuples: &[[u64; WIDTH]], tuple: &[u64; WIDTH]) -> usize {
    let mut reach = 1;
    while tuples.get(reach).is_some_and(|other| other < tuple) {
        reach *= 2;
    }
    tuples[..reach.min(tuples.len())].partition_point(|other| other < tuple)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_numbered_as_long_as_they_ascend() {
        let (mut tuples, mut numbers) = (Vec::new(), Vec::new());
        for (packed, expected) in
            [(&[0, 0, 3][..], Some(&[0, 0, 1][..])), (&[], None), (&[3, 4, 9, 9], Some(&[1, 2, 3, 3]))]
        {
            assert!(number_ascending::<1>(packed, &mut tuples, &mut numbers));
            assert!(expected.is_none_or(|expected| numbers == expected));
        }
        assert_eq!(tuples, [0, 3, 4, 9]);
        assert!(!number_ascending::<1>(&[9, 10, 3], &mut tuples, &mut numbers));
        assert_eq!(tuples, [0, 3, 4, 9]);
        let (mut pairs, mut numbers) = (Vec::new(), Vec::new());
        assert!(number_ascending::<2>(&[1, 7, 1, 8, 1, 8, 2, 0], &mut pairs, &mut numbers));
        assert_eq!((pairs, numbers), (vec![1, 7, 1, 8, 2, 0], vec![0, 1, 1, 2]));
    }

    #[test]
    fn common_tuples_are_found() {
        let ours: Vec<u64> = (0..100).map(|number| number * 3).collect();
        let theirs: Vec<u64> = (20..90).chain(290..400).collect();
        let expected: Vec<u64> = ours.iter().copied().filter(|word| theirs.contains(word)).collect();
        let found = common::<1>(&ours, &theirs);
        assert!(found.iter().all(|&(one, two)| ours[one as usize] == theirs[two as usize]));
        assert_eq!(found.iter().map(|&(one, _)| ours[one as usize]).collect::<Vec<_>>(), expected);
    }
}
