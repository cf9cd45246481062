use super::*;
use brc_core::Run;
use proptest::prelude::*;

/// The layout bit by bit, as its description has it.
fn pack_slowly(width: u32, values: &[u64]) -> Vec<u8> {
    let bits = lane_bits(width) as usize;
    let lanes = GROUP / bits;
    let mut packed = Vec::new();
    for group in values.chunks(GROUP) {
        let rows = group.len().div_ceil(lanes);
        let mut words = vec![0u8; (rows * width as usize).div_ceil(bits) * LANE_ROW_BYTES];
        for (index, value) in group.iter().enumerate() {
            let (row, lane) = (index / lanes, index % lanes);
            for bit in 0..width as usize {
                let at = row * width as usize + bit;
                let (word, in_word) = (at / bits, at % bits);
                let byte = (word * lanes + lane) * bits / 8 + in_word / 8;
                words[byte] |= ((value >> bit & 1) as u8) << (in_word % 8);
            }
        }
        packed.extend(words);
    }
    packed
}

fn check<L: Lane + TryFrom<u64> + Into<u64> + PartialEq + std::fmt::Debug>(width: u32, values: &[u64]) {
    let expected = pack_slowly(width, values);
    assert_eq!(packed_bytes(width, values.len() as u64), Some(expected.len() as u64));
    let lanes: Vec<L> = values.iter().map(|&value| L::try_from(value).ok().unwrap()).collect();
    for level in Level::available() {
        let mut packed = vec![7];
        pack(level, width, &lanes, &mut packed);
        assert!(packed[1..] == expected, "pack {} values of {width} bits with {level:?}", values.len());
        let mut back = vec![L::default(); values.len()];
        unpack(level, width, &expected, &mut back);
        assert!(back == lanes, "unpack {} values of {width} bits with {level:?}", values.len());
    }
}

fn check_width(width: u32, values: &[u64]) {
    let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
    let values: Vec<_> = values.iter().map(|value| value & mask).collect();
    match lane_bits(width) {
        16 => check::<u16>(width, &values),
        32 => check::<u32>(width, &values),
        _ => check::<u64>(width, &values),
    }
}

fn random(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn every_width_matches_the_layout() {
    for width in 0..=64 {
        for count in [0, 1, 15, 16, 17, 63, 64, 65, 1000, 1023, 1024, 1025, 2048, 2500] {
            check_width(width, &random(u64::from(width) + 1, count));
        }
    }
}

/// The worked example of buren's SPEC.md.
#[test]
fn the_layout_is_pinned() {
    let values: Vec<u16> = (0..130).map(|value| value * 7 % 1024).collect();
    let mut packed = Vec::new();
    pack(Level::Portable, 10, &values, &mut packed);
    assert_eq!(packed.len(), 256);
    // Lane 0 has values 0, 64 and 128: 0, 448 and 896. Lane 1 has 7, 455 and 903.
    let word = |at: usize| u16::from_le_bytes([packed[at], packed[at + 1]]);
    assert_eq!((word(0), word(128)), ((448 & 63) << 10, 448 >> 6 | 896 << 4));
    assert_eq!((word(2), word(130)), (7 | (455 & 63) << 10, 455 >> 6 | 903 << 4));
    // Lane 2 has only two values.
    assert_eq!((word(4), word(132)), (14 | (462 & 63) << 10, 462 >> 6));
}

#[test]
fn impossible_sizes_are_refused() {
    assert_eq!(packed_bytes(65, 1), None);
    assert_eq!(packed_bytes(64, u64::MAX), None);
    assert_eq!(packed_bytes(0, u64::MAX), Some(0));
    assert_eq!(packed_bytes(1, 1), Some(128));
    assert_eq!(packed_bytes(10, 1024), Some(1280));
    assert_eq!((width_of(0), width_of(1), width_of(1023), width_of(1024), width_of(u64::MAX)), (0, 1, 10, 11, 64));
}

proptest! {
    #[test]
    fn packing_round_trips(width in 0u32..=64, count in 0usize..3000, seed: u64) {
        check_width(width, &random(seed, count));
    }

    #[test]
    fn bases_are_added_and_subtracted(
        runs in prop::collection::vec((1u32..200, any::<i64>()), 0..20),
        seed: u64,
        shift in 0u32..48,
    ) {
        let bases: Vec<_> = runs.iter().map(|run| run.1 >> shift).collect();
        let runs: Vec<_> = runs.iter().map(|run| Run { code: 0, rows: run.0 }).collect();
        let rows = runs.iter().map(|run| run.rows as usize).sum();
        let lanes: Vec<u16> = random(seed, rows).iter().map(|&value| value as u16).collect();
        let base_of_row = runs.iter().zip(&bases).flat_map(|(run, base)| std::iter::repeat_n(*base, run.rows as usize));
        let expected: Vec<i64> =
            lanes.iter().zip(base_of_row).map(|(&lane, base)| base.wrapping_add(i64::from(lane))).collect();
        for level in Level::available() {
            let mut wide = vec![0i64; rows];
            rebase(level, &lanes, &runs, &bases, &mut wide);
            prop_assert_eq!(&wide, &expected);
            let mut narrow = vec![0i16; rows];
            rebase(level, &lanes, &runs, &bases, &mut narrow);
            prop_assert!(narrow.iter().zip(&expected).all(|(&narrow, &wide)| narrow == wide as i16));
            let mut back = vec![0u16; rows];
            unbase(level, &wide, &runs, &bases, &mut back);
            prop_assert_eq!(&back, &lanes);
        }
    }
}
