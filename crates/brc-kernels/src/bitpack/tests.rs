use super::*;
use crate::cpu::Level;
use brc_core::Run;
use proptest::prelude::*;

/// A reference implementation of the layout, bit by bit.
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

fn one_run(count: usize) -> Vec<Run> {
    (0..count.min(1)).map(|_| Run { code: 0, rows: count as u32 }).collect()
}

fn check<V: Value + PartialEq>(width: u32, values: &[u64], cut: fn(u64) -> V) {
    let expected = pack_slowly(width, values);
    assert_eq!(packed_bytes(width, values.len() as u64), Some(expected.len() as u64));
    let runs = one_run(values.len());
    let bases = vec![0; runs.len()];
    let values: Vec<V> = values.iter().map(|&value| cut(value)).collect();
    for level in Level::available() {
        let mut packed = vec![7];
        pack(level, width, &values, &runs, &bases, &mut packed);
        assert!(packed[1..] == expected, "pack {} values of {width} bits with {level:?}", values.len());
        let mut back = vec![V::default(); values.len()];
        unpack(level, width, &expected, 0, &runs, &bases, &mut back);
        assert!(back == values, "unpack {} values of {width} bits with {level:?}", values.len());
    }
}

fn check_width(width: u32, values: &[u64]) {
    let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
    let values: Vec<_> = values.iter().map(|value| value & mask).collect();
    if width <= 16 {
        check(width, &values, |value| value as i16);
    }
    if width <= 32 {
        check(width, &values, |value| value as i32);
        check(width, &values, |value| value as u32);
    }
    check(width, &values, |value| value as i64);
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

#[test]
fn impossible_codes_are_refused() {
    let unpack = |width, packed: &[u8]| {
        let packed = packed.to_vec();
        std::panic::catch_unwind(move || unpack_codes(Level::best(), width, &packed, 0, 0, &mut [0; 20])).is_ok()
    };
    assert!(unpack(7, &[0; 256]));
    assert!(!unpack(7, &[0; 127]));
    assert!(!unpack(33, &[0; 1 << 16]));
}

/// The worked example of buren's SPEC.md.
#[test]
fn the_layout_is_pinned() {
    let values: Vec<i16> = (0..130).map(|value| value * 7 % 1024).collect();
    let mut packed = Vec::new();
    pack(Level::Portable, 10, &values, &one_run(130), &[0], &mut packed);
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
    fn codes_are_unpacked_with_the_largest(
        width in 0u32..=32,
        count in 0usize..3000,
        first: prop::sample::Index,
        base in prop_oneof![Just(0), -5i64..5, any::<i64>()],
        seed: u64,
    ) {
        let differences: Vec<u32> = random(seed, count).iter().map(|value| value.checked_shr(64 - width).unwrap_or(0) as u32).collect();
        let mut packed = Vec::new();
        pack(Level::best(), width, &differences, &one_run(count), &vec![0; count.min(1)], &mut packed);
        let first = first.index(count + 1);
        let expected: Vec<u32> = differences[first..].iter().map(|value| value.wrapping_add(base as u32)).collect();
        for level in Level::available() {
            let mut codes = vec![7; count - first];
            let largest = unpack_codes(level, width, &packed, first, base, &mut codes);
            prop_assert_eq!(crate::direct::unsigned(&codes), &expected);
            prop_assert_eq!(largest, expected.iter().copied().max().unwrap_or(0));
        }
    }

    #[test]
    fn packing_round_trips(width in 0u32..=64, count in 0usize..3000, seed: u64) {
        check_width(width, &random(seed, count));
    }

    #[test]
    fn bases_are_added_and_subtracted(
        runs in prop::collection::vec((prop_oneof![1u32..200, 1000u32..5000], any::<i64>()), 1..10),
        seed: u64,
        width in 1u32..=64,
        first: prop::sample::Index,
        count: prop::sample::Index,
    ) {
        let rows = runs.iter().map(|run| run.0 as usize).sum();
        let mut values: Vec<i64> = random(seed, rows).iter().map(|value| (value >> (64 - width)) as i64).collect();
        let base_of_row = runs.iter().flat_map(|run| std::iter::repeat_n(run.1, run.0 as usize));
        values.iter_mut().zip(base_of_row).for_each(|(value, base)| *value = value.wrapping_add(base));
        let first = first.index(rows);
        let count = 1 + count.index(rows - first);
        // The runs of the requested rows.
        let mut start = 0;
        let wanted: Vec<(Run, i64)> = runs.iter().filter_map(|&(rows, base)| {
            let end = start + rows as usize;
            let common = end.min(first + count).saturating_sub(start.max(first));
            start = end;
            (common > 0).then_some((Run { code: 0, rows: common as u32 }, base))
        }).collect();
        let (wanted, wanted_bases): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
        let bases: Vec<_> = runs.iter().map(|run| run.1).collect();
        let runs: Vec<_> = runs.iter().map(|run| Run { code: 0, rows: run.0 }).collect();
        for level in Level::available() {
            let mut packed = Vec::new();
            pack(level, width, &values, &runs, &bases, &mut packed);
            let mut back = vec![0i64; count];
            unpack(level, width, &packed, first, &wanted, &wanted_bases, &mut back);
            prop_assert!(back == values[first..first + count]);
            if width <= 16 {
                let narrow: Vec<_> = values.iter().map(|&value| value as i16).collect();
                let mut of_narrow = Vec::new();
                pack(level, width, &narrow, &runs, &bases, &mut of_narrow);
                prop_assert!(of_narrow == packed);
                let mut back = vec![0i16; count];
                unpack(level, width, &packed, first, &wanted, &wanted_bases, &mut back);
                prop_assert!(back == narrow[first..first + count]);
            }
        }
    }
}
