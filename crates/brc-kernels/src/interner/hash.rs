//! The keys of names, and their hashes.

use super::fronts::front_key;
use super::{LONGEST, PADDING, SHORT};
use crate::cpu::Level;

/// Sixteen bytes that represent a name, as two little-endian words. A short name is its own key, padded; the key of a
/// longer name is a digest whose first byte is [`PADDING`], so that no short name has the same key, and whose second
/// byte is not, so that no free slot has it.
pub(crate) type Key = [u64; 2];

/// The key of a free slot, which no name has.
pub(crate) const NO_KEY: Key = [u64::from_le_bytes([PADDING; 8]); 2];

/// How keys of names are computed and hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HashKind {
    /// Three rounds of AES: 32 well-mixed bits in three instructions, for four keys at once with AVX-512.
    #[cfg(target_arch = "x86_64")]
    Aes,
    /// A multiplication, for processors without AES instructions.
    Multiply,
}

impl HashKind {
    pub(super) fn of(level: Level) -> Self {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => Self::Aes,
            _ => Self::Multiply,
        }
    }

    /// The key of a name; `None` if it is empty, longer than [`LONGEST`], or short with bytes that no name of a text
    /// table has.
    #[inline]
    pub(super) fn key(self, name: &[u8]) -> Option<Key> {
        match name.len() {
            0..=SHORT => {
                let mut padded = [PADDING; SHORT];
                padded[..name.len()].copy_from_slice(name);
                front_key(&padded, name.len())
            }
            length => (length <= LONGEST).then(|| self.digest(name)),
        }
    }

    fn digest(self, name: &[u8]) -> Key {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Aes => {
                let mut padded = [0; LONGEST];
                padded[..name.len()].copy_from_slice(name);
                // SAFETY: `Aes` is chosen only if the level has AVX2 and AES instructions.
                unsafe { aes::digest(&padded, name.len()) }
            }
            Self::Multiply => multiplied(name),
        }
    }

    #[inline]
    pub(super) fn hash(self, key: &Key) -> u32 {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Aes` is chosen only if the level has AES instructions.
            Self::Aes => unsafe { aes::hash(key) },
            Self::Multiply => hash_by_multiplying(key),
        }
    }
}

#[inline(always)]
pub(crate) fn hash_by_multiplying(key: &Key) -> u32 {
    let mixed = fold(fold(key[0], 0) ^ key[1], 0);
    mixed as u32 ^ (mixed >> 32) as u32
}

/// The digest of a name of at most [`LONGEST`] bytes, computed with multiplications.
pub(crate) fn multiplied(name: &[u8]) -> Key {
    let mut state = [SPREAD, SPREAD.rotate_left(17)];
    let mut mix = |[low, high]: Key| {
        state = [fold(state[0] ^ low, high), fold(state[1] ^ high, low.rotate_left(29))];
    };
    let (chunks, rest) = name.as_chunks::<16>();
    chunks.iter().for_each(|chunk| mix(words(chunk)));
    if !rest.is_empty() {
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        mix(words(&last));
    }
    marked([state[0], state[1]])
}

/// Sets the first byte of a digest to [`PADDING`] and the second to 0, so that no short name equals it, nor [`NO_KEY`].
#[inline(always)]
pub(super) fn marked(digest: Key) -> Key {
    [digest[0] & !0xffff | PADDING as u64, digest[1]]
}

/// Whether two names are equal; the second must have at least sixteen bytes, and at most [`LONGEST`]. Of up to 64 bytes,
/// four parts are compared without a branch on their number; the last ones overlap.
#[inline(always)]
pub(crate) fn equal_long(found: &[u8], name: &[u8]) -> bool {
    debug_assert!(name.len() <= LONGEST, "longer names have no key");
    if found.len() != name.len() || name.len() < 16 {
        return false;
    }
    differences(found, name, 0) == [0; 2]
        && (name.len() <= LONGEST / 2 || differences(found, name, LONGEST / 2) == [0; 2])
}

/// The differing bits of four parts from `first` on.
#[inline(always)]
fn differences(found: &[u8], name: &[u8], first: usize) -> Key {
    let mut different = [0; 2];
    for part in 0..4 {
        let at = (first + 16 * part).min(name.len() - 16);
        let (one, other) = (part_at(name, at), part_at(found, at));
        different = [different[0] | (one[0] ^ other[0]), different[1] | (one[1] ^ other[1])];
    }
    different
}

/// Sixteen bytes of a name.
#[inline(always)]
fn part_at(name: &[u8], at: usize) -> Key {
    name[at..].first_chunk().map_or([0; 2], words)
}

fn words(bytes: &[u8; 16]) -> Key {
    let word = u128::from_le_bytes(*bytes);
    [word as u64, (word >> 64) as u64]
}

const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes two words into one.
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left ^ SPREAD) * u128::from(right ^ SPREAD.rotate_left(32));
    product as u64 ^ (product >> 64) as u64
}

/// Mixes all bytes of a name and its length.
pub(super) fn hash_bytes(name: &[u8]) -> u32 {
    let (chunks, rest) = name.as_chunks::<16>();
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    let state =
        chunks.iter().chain([&last]).map(words).fold(name.len() as u64, |state, [low, high]| fold(state ^ low, high));
    (state >> 32) as u32 ^ state as u32
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod aes {
    use super::{Key, LONGEST, PADDING, marked};
    use std::arch::x86_64::*;

    /// The round key: digits of π.
    pub(crate) const ROUND: [i64; 2] = [0x1319_8A2E_0370_7344, 0x243F_6A88_85A3_08D3];

    /// With two rounds, a byte of the hash would still depend on only four bytes of the key, and thousands of numbered
    /// names would share hashes.
    pub(crate) const ROUNDS: usize = 3;

    /// # Safety
    /// The processor has AES instructions.
    #[target_feature(enable = "aes")]
    #[inline]
    pub(in crate::interner) unsafe fn hash(key: &Key) -> u32 {
        let round = _mm_set_epi64x(ROUND[1], ROUND[0]);
        // SAFETY: a key has sixteen readable bytes.
        let key = unsafe { _mm_loadu_si128(key.as_ptr().cast()) };
        let mut mixed = key;
        for _ in 0..ROUNDS {
            mixed = _mm_aesenc_si128(mixed, round);
        }
        _mm_cvtsi128_si32(mixed) as u32
    }

    /// The digest of a name that is padded with zeros, and longer than 16 bytes.
    ///
    /// # Safety
    /// The processor has AVX2 and AES instructions.
    #[target_feature(enable = "avx2,aes")]
    pub(super) unsafe fn digest(padded: &[u8; LONGEST], length: usize) -> Key {
        // SAFETY: as many bytes are readable as the longest name has.
        unsafe { digest_in_text(padded.as_ptr(), length) }
    }

    /// Ones followed by zeros; the masks of sixteen bytes of short names are within one cache line.
    #[repr(align(64))]
    struct Inside([u8; 3 * LONGEST]);

    impl Inside {
        const ONES: usize = LONGEST + 32;
    }

    static INSIDE: Inside = {
        let mut inside = [0; 3 * LONGEST];
        let mut at = 0;
        while at < Inside::ONES {
            inside[at] = 0xff;
            at += 1;
        }
        Inside(inside)
    };

    /// A mask of the first `length` of [`LONGEST`] bytes; `length` is at most that.
    #[inline(always)]
    pub(crate) fn inside(length: usize) -> *const u8 {
        debug_assert!(length <= LONGEST, "no name with a key is longer");
        INSIDE.0.as_ptr().wrapping_add(Inside::ONES - length)
    }

    /// The digest of a name that is followed by readable bytes: of eight parts of sixteen bytes, padded with zeros, the
    /// last four are mixed into the first four, and these into one. It is not keyed, so names with equal digests can be
    /// constructed.
    ///
    /// # Safety
    /// The processor has AVX and AES instructions. The name is longer than 16 bytes and at most [`LONGEST`];
    /// [`LONGEST`] bytes from its start are readable, or at least 63 bytes after its end.
    #[inline(always)]
    pub(crate) unsafe fn digest_in_text(name: *const u8, length: usize) -> Key {
        const {
            assert!(LONGEST == 128, "eight parts");
        }
        // SAFETY: promised by the caller: the first four parts are read only of names of at least 17 bytes, the others
        // only of names of more than 64. The mask is as long as the longest name.
        unsafe {
            let round = _mm_set_epi64x(ROUND[1], ROUND[0]);
            let inside = inside(length);
            let part = |at: usize| {
                let is_inside = _mm_loadu_si128(inside.add(16 * at).cast());
                _mm_and_si128(_mm_loadu_si128(name.add(16 * at).cast()), is_inside)
            };
            let mut four = [part(0), part(1), part(2), part(3)];
            let mut more = [_mm_setzero_si128(); 4];
            if length > 64 {
                more = [part(4), part(5), part(6), part(7)];
            }
            for at in 0..4 {
                four[at] = _mm_aesenc_si128(_mm_aesenc_si128(_mm_aesenc_si128(four[at], round), more[at]), round);
            }
            let two = (_mm_aesenc_si128(four[0], four[2]), _mm_aesenc_si128(four[1], four[3]));
            let one = _mm_aesenc_si128(_mm_aesenc_si128(two.0, two.1), round);
            marked([_mm_cvtsi128_si64(one) as u64, _mm_cvtsi128_si64(_mm_unpackhi_epi64(one, one)) as u64])
        }
    }

    /// Whether two names of the same length are equal, in the steps of [`equal_long`](super::equal_long) but without
    /// checks of bounds: the One Billion Row Challenge with 10,000 names takes 3 % less time than with that function
    /// (2026-11).
    ///
    /// # Safety
    /// The processor has SSE 4.1. Both have `length` readable bytes, which is from sixteen to [`LONGEST`].
    #[inline(always)]
    pub(crate) unsafe fn equal_parts(one: *const u8, other: *const u8, length: usize) -> bool {
        // SAFETY: promised by the caller; no part ends after the name.
        unsafe {
            let different = |first: usize| {
                let mut different = _mm_setzero_si128();
                for part in 0..4 {
                    let at = (first + 16 * part).min(length - 16);
                    let one = _mm_loadu_si128(one.add(at).cast());
                    let other = _mm_loadu_si128(other.add(at).cast());
                    different = _mm_or_si128(different, _mm_xor_si128(one, other));
                }
                different
            };
            let mut any = different(0);
            if length > LONGEST / 2 {
                any = _mm_or_si128(any, different(LONGEST / 2));
            }
            _mm_testz_si128(any, any) == 1
        }
    }

    /// The mixed first part of a name, to which its fifth part is added.
    #[cfg(test)]
    pub(in crate::interner) fn first_part_mixed(name: &[u8]) -> [u8; 16] {
        assert!(std::arch::is_x86_feature_detected!("aes"), "AES instructions");
        // SAFETY: the instructions were detected; vectors of sixteen bytes can be transmuted to arrays.
        unsafe {
            let mut part = [0; 16];
            part.copy_from_slice(&name[..16]);
            let first = aesenc(aesenc(std::mem::transmute::<[u8; 16], __m128i>(part), ROUND), [0; 2]);
            std::mem::transmute(first)
        }
    }

    #[cfg(test)]
    #[target_feature(enable = "aes")]
    fn aesenc(state: __m128i, round: [i64; 2]) -> __m128i {
        _mm_aesenc_si128(state, _mm_set_epi64x(round[1], round[0]))
    }

    /// The same with AVX-512, for a name that need not be followed by readable bytes.
    ///
    /// # Safety
    /// The processor has these instructions. The name is readable, and has at most [`LONGEST`] bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,aes,bmi2")]
    #[inline]
    pub(crate) unsafe fn digest_avx512(name: *const u8, length: usize) -> __m128i {
        let round = _mm_set_epi64x(ROUND[1], ROUND[0]);
        let rounds = _mm512_broadcast_i32x4(round);
        // SAFETY: only the bytes of the name are read.
        let (first, second) = unsafe { halves(name, length) };
        let four = _mm512_aesenc_epi128(_mm512_aesenc_epi128(_mm512_aesenc_epi128(first, rounds), second), rounds);
        let two = _mm256_aesenc_epi128(_mm512_castsi512_si256(four), _mm512_extracti64x4_epi64::<1>(four));
        let one = _mm_aesenc_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256::<1>(two));
        let unmarked = _mm_andnot_si128(_mm_cvtsi32_si128(0xffff), _mm_aesenc_si128(one, round));
        _mm_or_si128(unmarked, _mm_cvtsi32_si128(PADDING.into()))
    }

    /// Whether two names of the same length are equal.
    ///
    /// # Safety
    /// The processor has these instructions. The names are readable, and have at most [`LONGEST`] bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    #[inline]
    pub(crate) unsafe fn equal_avx512(left: *const u8, right: *const u8, length: usize) -> bool {
        // SAFETY: only the bytes of the names are read.
        let (left, right) = unsafe { (halves(left, length), halves(right, length)) };
        let different = _mm512_xor_si512(left.0, right.0);
        let different = _mm512_ternarylogic_epi64::<0xf6>(different, left.1, right.1);
        _mm512_test_epi64_mask(different, different) == 0
    }

    /// A name, padded with zeros.
    ///
    /// # Safety
    /// The processor has these instructions. The name is readable, and has at most [`LONGEST`] bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    #[inline]
    unsafe fn halves(name: *const u8, length: usize) -> (__m512i, __m512i) {
        const { assert!(LONGEST == 128, "two registers") };
        let inside = |bytes: usize| _bzhi_u64(u64::MAX, bytes as u32);
        // SAFETY: bytes after the name are masked out, and so not read.
        unsafe {
            let first = _mm512_maskz_loadu_epi8(inside(length), name.cast());
            let second = _mm512_maskz_loadu_epi8(inside(length.saturating_sub(64)), name.wrapping_add(64).cast());
            (first, second)
        }
    }
}
