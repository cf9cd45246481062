//! The wanted ones of 64 rows, all at once.

use super::{FEW_RUNS, Word};
use std::arch::x86_64::{
    _mm_loadu_si128, _mm512_add_epi32, _mm512_castsi256_si512, _mm512_cvtepi16_epi8, _mm512_cvtepu8_epi32,
    _mm512_inserti64x4, _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_maskz_expand_epi8,
    _mm512_maskz_loadu_epi16, _mm512_or_si512, _mm512_permutex2var_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
};

/// The numbers of 64 lanes.
const LANES: [u8; 64] = {
    let mut lanes = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        lanes[lane] = lane as u8;
        lane += 1;
    }
    lanes
};

/// Puts run and place of each wanted row there, and something behind them. `runs` are those of the word's rows, 64 at most.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
pub(super) fn put(word: &Word, count: usize, runs: &[i16], to_runs: &mut [u32; 64], to_places: &mut [u32; 64]) {
    assert!(runs.len() <= 64 && count <= FEW_RUNS);
    let there = u64::MAX >> (64 - runs.len().max(1));
    let (low, high) = runs.split_at(runs.len().min(32));
    // SAFETY: only lanes that are there are loaded; all arrays have the bytes that are loaded and stored.
    unsafe {
        let lanes = _mm512_loadu_si512(LANES.as_ptr().cast());
        let mut ranks = _mm512_setzero_si512();
        for &own in &word.own[..count] {
            ranks = _mm512_or_si512(ranks, _mm512_maskz_expand_epi8(own, lanes));
        }
        let low = _mm512_cvtepi16_epi8(_mm512_maskz_loadu_epi16(there as u32, low.as_ptr()));
        let high = _mm512_cvtepi16_epi8(_mm512_maskz_loadu_epi16((there >> 32) as u32, high.as_ptr()));
        let runs = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        let (mut wanted_runs, mut wanted_ranks) = ([0u8; 64], [0u8; 64]);
        _mm512_storeu_si512(wanted_runs.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(word.wanted, runs));
        _mm512_storeu_si512(wanted_ranks.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(word.wanted, ranks));
        let first = [0, 16].map(|from| _mm512_loadu_si512(word.first[from..from + 16].as_ptr().cast()));
        for from in (0..word.wanted.count_ones() as usize).step_by(16) {
            let [runs, ranks] = [&wanted_runs, &wanted_ranks]
                .map(|bytes| _mm512_cvtepu8_epi32(_mm_loadu_si128(bytes[from..from + 16].as_ptr().cast())));
            let places = _mm512_add_epi32(ranks, _mm512_permutex2var_epi32(first[0], runs, first[1]));
            _mm512_storeu_si512(to_runs[from..from + 16].as_mut_ptr().cast(), runs);
            _mm512_storeu_si512(to_places[from..from + 16].as_mut_ptr().cast(), places);
        }
    }
}
