//! Lookup of short names that are followed by other bytes: if sixteen bytes can be read for any length of the name, no
//! step of the lookup depends on that length.

#[cfg(target_arch = "x86_64")]
use super::LONGEST;
use super::hash::Key;
#[cfg(target_arch = "x86_64")]
use super::hash::{HashKind, aes};
use super::{Interner, PADDING, SHORT};
#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::Range;

impl Interner {
    /// The code of the first `length` bytes of a text, if they are a known name. Faster than [`Interner::get`] if the
    /// text continues after a short name.
    ///
    /// # Panics
    /// If the text is shorter than `length`.
    #[inline]
    #[must_use]
    pub fn get_prefix(&self, text: &[u8], length: usize) -> Option<u32> {
        let key = text.first_chunk().and_then(|front| front_key(front, length));
        let code = key.and_then(|key| self.table.get(&key));
        code.or_else(|| self.get(&text[..length]))
    }

    /// Appends the codes of names at these byte ranges, as [`Interner::intern`] returns them. No lookup waits for the
    /// previous one.
    ///
    /// # Panics
    /// If a range is out of bounds.
    pub fn intern_all(&mut self, bytes: &[u8], ranges: &[Range<usize>], codes: &mut Vec<u32>) {
        let mut rest = ranges;
        codes.reserve(rest.len());
        while !rest.is_empty() {
            let known = self.get_all(bytes, rest, codes);
            rest = &rest[known..];
            if let Some((range, following)) = rest.split_first() {
                codes.push(self.intern(&bytes[range.clone()]));
                rest = following;
            }
        }
    }

    /// Appends the codes of the first names, up to one that is not in the table. Returns their number.
    fn get_all(&self, bytes: &[u8], ranges: &[Range<usize>], codes: &mut Vec<u32>) -> usize {
        match self.table.hash {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the best level has these instructions.
            HashKind::Aes if Level::best() == Level::Avx512 => unsafe { self.get_all_avx512(bytes, ranges, codes) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Aes` is chosen only if the level has AVX2 and AES instructions.
            HashKind::Aes => unsafe { self.get_all_avx2(bytes, ranges, codes) },
            kind => self.get_all_by(front_key, |key| kind.hash(key), |name| self.get(name), bytes, ranges, codes),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,aes,bmi2")]
    fn get_all_avx512(&self, bytes: &[u8], ranges: &[Range<usize>], codes: &mut Vec<u32>) -> usize {
        let padding = _mm_set1_epi8(PADDING as i8);
        let words =
            |key: __m128i| [_mm_cvtsi128_si64(key) as u64, _mm_cvtsi128_si64(_mm_unpackhi_epi64(key, key)) as u64];
        let front_key = |front: &[u8; SHORT], length: usize| {
            let name = _bzhi_u32(0xffff, length as u32) as u16;
            // SAFETY: there are sixteen readable bytes.
            let bytes = unsafe { _mm_loadu_si128(front.as_ptr().cast()) };
            let is_key = _mm_mask_cmpeq_epi8_mask(name, bytes, padding) == 0 && length > 0;
            if is_key { Some(words(_mm_mask_blend_epi8(name, padding, bytes))) } else { None }
        };
        // SAFETY: this function has AES instructions.
        let hash = |key: &Key| unsafe { aes::hash(key) };
        let get_long = |name: &[u8]| {
            if name.len() > LONGEST {
                return self.get(name);
            }
            // SAFETY: this function has the instructions, and the name is not too long.
            let key = words(unsafe { aes::digest_avx512(name.as_ptr(), name.len()) });
            let slot = &self.table.slots[self.table.index_of(hash(&key))];
            if slot.key != key {
                return None;
            }
            let known = self.dictionary.get(slot.code());
            // SAFETY: likewise; both names have this length.
            let is_known =
                name.len() == known.len() && unsafe { aes::equal_avx512(name.as_ptr(), known.as_ptr(), name.len()) };
            if is_known { Some(slot.code()) } else { None }
        };
        self.get_all_by(front_key, hash, get_long, bytes, ranges, codes)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,aes")]
    fn get_all_avx2(&self, bytes: &[u8], ranges: &[Range<usize>], codes: &mut Vec<u32>) -> usize {
        let padding = _mm_set1_epi8(PADDING as i8);
        let front_key = |front: &[u8; SHORT], length: usize| {
            debug_assert!(length <= SHORT, "a short name");
            // SAFETY: there are sixteen readable bytes, and as many in a mask.
            let (bytes, name) =
                unsafe { (_mm_loadu_si128(front.as_ptr().cast()), _mm_loadu_si128(aes::inside(length).cast())) };
            let is_key = _mm_testz_si128(_mm_cmpeq_epi8(bytes, padding), name) == 1 && length > 0;
            let key = _mm_blendv_epi8(padding, bytes, name);
            let words = [_mm_cvtsi128_si64(key) as u64, _mm_extract_epi64::<1>(key) as u64];
            if is_key { Some(words) } else { None }
        };
        // SAFETY: this function has AES instructions.
        let hash = |key: &Key| unsafe { aes::hash(key) };
        let end = bytes.as_ptr_range().end.addr();
        let get_long = |name: &[u8]| {
            if name.len() > LONGEST || end - name.as_ptr().addr() < LONGEST {
                return self.get(name);
            }
            // SAFETY: this function has the instructions; the name is not too long, and far enough from the end that
            // all bytes that are read are within the buffer.
            let key = unsafe { aes::digest_in_text(name.as_ptr(), name.len()) };
            let slot = &self.table.slots[self.table.index_of(hash(&key))];
            let known = if slot.key == key { self.dictionary.get(slot.code()) } else { &[] };
            // SAFETY: likewise; both names have this length, which is more than sixteen.
            let is_known =
                name.len() == known.len() && unsafe { aes::equal_parts(name.as_ptr(), known.as_ptr(), name.len()) };
            if is_known { Some(slot.code()) } else { None }
        };
        self.get_all_by(front_key, hash, get_long, bytes, ranges, codes)
    }

    /// Without closures or iterators of its own, which would be compiled without the instructions of the caller.
    #[inline(always)]
    fn get_all_by(
        &self,
        front_key: impl Fn(&[u8; SHORT], usize) -> Option<Key>,
        hash: impl Fn(&Key) -> u32,
        get_long: impl Fn(&[u8]) -> Option<u32>,
        bytes: &[u8],
        ranges: &[Range<usize>],
        codes: &mut Vec<u32>,
    ) -> usize {
        for (known, range) in ranges.iter().enumerate() {
            let code = if range.len() > SHORT {
                get_long(&bytes[range.clone()])
            } else if let Some(front) = bytes[range.start..].first_chunk()
                && let Some(key) = front_key(front, range.len())
            {
                let slot = &self.table.slots[self.table.index_of(hash(&key))];
                if slot.key == key { Some(slot.code()) } else { None }
            } else {
                None
            };
            let Some(code) = code else { return known };
            codes.push(code);
        }
        ranges.len()
    }
}

const EACH: u128 = u128::from_le_bytes([1; SHORT]);
const PADDED: u128 = EACH * PADDING as u128;

/// Masks of the bytes of a name, by its length.
const NAMES: [u128; SHORT + 1] = {
    let mut names = [0; SHORT + 1];
    let mut length = 1;
    while length <= SHORT {
        names[length] = u128::MAX >> (8 * (SHORT - length));
        length += 1;
    }
    names
};

/// The key of a name that consists of the first `length` bytes, if the name is its own key.
#[inline]
pub(super) fn front_key(bytes: &[u8; SHORT], length: usize) -> Option<Key> {
    let name = *NAMES.get(length)?;
    let differences = u128::from_le_bytes(*bytes) ^ PADDED;
    // The lowest of these bits marks the first byte without differences; higher bits may be wrong.
    let padding = differences.wrapping_sub(EACH) & !differences & (EACH << 7) & name;
    (padding == 0 && length > 0).then_some(padded(bytes, length))
}

/// The first `length` bytes, padded.
///
/// # Panics
/// If `length` is above [`SHORT`].
#[inline(always)]
pub(crate) fn padded(bytes: &[u8; SHORT], length: usize) -> Key {
    let name = NAMES[length];
    let padded = u128::from_le_bytes(*bytes) & name | PADDED & !name;
    [padded as u64, (padded >> 64) as u64]
}
