//! Restores rows of few runs, 64 at a time.

use super::{Cursor, Found, MAX_ROWS};
use crate::cpu::{BYTE_INDEXES, Level};
use crate::filter::{range, words};
use brc_core::Integers;
use std::arch::x86_64::{
    _mm_loadu_si128, _mm512_add_epi32, _mm512_castsi256_si512, _mm512_cvtepi16_epi8, _mm512_cvtepu8_epi32,
    _mm512_inserti64x4, _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_maskz_expand_epi8,
    _mm512_maskz_loadu_epi16, _mm512_or_si512, _mm512_permutex2var_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
    _pdep_u64,
};

/// With more runs, rows are processed one by one: comparing each row with all runs takes longer.
pub(super) const MAX_RUNS: usize = 32;

impl Found {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
    pub(super) fn find_of_few(&mut self, level: Level, runs: &[i16], cursors: &mut [Cursor], met: &[u64]) -> bool {
        let words = words(runs.len());
        let mut masks = [[0; MAX_ROWS / 64]; MAX_RUNS];
        for (run, mask) in masks[..cursors.len()].iter_mut().enumerate() {
            range(level, Integers::I16(runs), run as i128, run as i128, &mut mask[..words]);
        }
        let (mut rows, mut of_word) = (0, Word::default());
        for (index, runs) in runs.chunks(64).enumerate() {
            let mut all = 0;
            of_word.wanted = 0;
            for (run, cursor) in cursors.iter_mut().enumerate() {
                let own = masks[run % MAX_RUNS][index];
                let count = own.count_ones();
                if count > cursor.end.saturating_sub(cursor.next) {
                    return false;
                }
                (of_word.own[run % MAX_RUNS], of_word.first[run % MAX_RUNS]) = (own, cursor.next);
                of_word.wanted |= _pdep_u64(bits_at(met, cursor.next as usize), own);
                all += count;
                cursor.next += count;
            }
            if all as usize != runs.len() {
                return false;
            }
            let to_runs = self.runs[rows..].first_chunk_mut();
            let (Some(to_runs), Some(to_places)) = (to_runs, self.places[rows..].first_chunk_mut()) else {
                return false;
            };
            if level >= Level::Avx512 {
                // SAFETY: the level is not above the best one that was detected.
                unsafe { put_avx512(&of_word, cursors.len(), runs, to_runs, to_places) }
            } else {
                of_word.put(runs, to_runs, to_places);
            }
            rows += of_word.wanted.count_ones() as usize;
        }
        self.rows = rows;
        true
    }
}

/// The state of 64 rows of a few runs.
#[derive(Default)]
struct Word {
    wanted: u64,
    /// The rows of each run, as a mask.
    own: [u64; MAX_RUNS],
    /// The position of the first of them.
    first: [u32; MAX_RUNS],
}

impl Word {
    /// Writes the run and position of each selected row.
    #[inline(always)]
    fn put(&self, of_rows: &[i16], runs: &mut [u32; 64], places: &mut [u32; 64]) {
        let (mut wanted, mut rows) = (self.wanted, 0);
        while wanted != 0 {
            let row = wanted.trailing_zeros();
            wanted &= wanted - 1;
            let run = of_rows[row as usize % 64];
            let before = self.own[run as usize % MAX_RUNS] & ((1 << row) - 1);
            runs[rows % 64] = run as u32;
            places[rows % 64] = self.first[run as usize % MAX_RUNS] + before.count_ones();
            rows += 1;
        }
    }
}

/// The 64 bits from index `first` on; bits after the last word are 0.
#[inline(always)]
fn bits_at(bits: &[u64], first: usize) -> u64 {
    let word = |index: usize| bits.get(index).copied().unwrap_or(0);
    let (index, shift) = (first / 64, first % 64);
    word(index) >> shift | word(index + 1) << 1 << (63 - shift)
}

/// Writes the run and position of each selected row, and unspecified values after them. `runs` are the runs of at most
/// 64 rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn put_avx512(word: &Word, count: usize, runs: &[i16], to_runs: &mut [u32; 64], to_places: &mut [u32; 64]) {
    assert!(runs.len() <= 64 && count <= MAX_RUNS);
    let there = u64::MAX >> (64 - runs.len().max(1));
    let (low, high) = runs.split_at(runs.len().min(32));
    // SAFETY: only existing lanes are loaded; all arrays are as large as what is loaded from or stored to them.
    unsafe {
        let lanes = _mm512_loadu_si512(BYTE_INDEXES.as_ptr().cast());
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
