//! What all values of a block have in common, removed from them and stored once.
//!
//! A template is a sequence of literals with gaps between them that are filled by each value's own bytes: `http://www.`
//! and `.html` around one gap of any length; or, where all values have the same length, four `-` between gaps of 8, 4,
//! 4, 4 and 12 bytes.

use super::buffers::{SLACK, StringBuffer};
use super::{Malformed, Strings};

/// The maximum total length of the literals, which limits the size to which a forged block can expand.
const MAX_LITERAL_BYTES: usize = 255;

/// The literals, and the lengths of the gaps between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    /// Each literal and the length of the gap after it. The last gap takes the rest of the value.
    parts: Vec<(Vec<u8>, u8)>,
    /// The literal after the last gap.
    end: Vec<u8>,
}

impl Template {
    /// The longest common prefix and suffix of all values. Neither ends within a number.
    pub(super) fn of_affixes(values: Strings<'_>) -> Self {
        let mut rows = values.iter();
        let first = rows.next().unwrap_or_default();
        let (mut prefix, mut suffix) = (&first[..first.len().min(MAX_LITERAL_BYTES)], first);
        let mut shortest = first.len();
        for value in rows {
            prefix = &prefix[..common(prefix.iter(), value.iter())];
            suffix = &suffix[suffix.len() - common(suffix.iter().rev(), value.iter().rev())..];
            shortest = shortest.min(value.len());
            if prefix.is_empty() && suffix.is_empty() {
                return Self::none();
            }
        }
        let one =
            values.is_empty() || prefix.len() == shortest && values.lengths().all(|length| length == shortest as u32);
        let digits = if one { 0 } else { prefix.iter().rev().take_while(|byte| byte.is_ascii_digit()).count() };
        let prefix = &prefix[..prefix.len() - digits];
        let suffix =
            &suffix[suffix.len() - suffix.len().min(shortest - prefix.len()).min(MAX_LITERAL_BYTES - prefix.len())..];
        let digits = suffix.iter().take_while(|byte| byte.is_ascii_digit()).count();
        Self { parts: vec![(prefix.to_vec(), 0)], end: suffix[digits..].to_vec() }
    }

    /// The positions at which all values have the same byte; `None` unless all have the same length of at most 255
    /// bytes.
    pub(super) fn of_positions(values: Strings<'_>) -> Option<Self> {
        let mut rows = values.iter();
        let first = rows.next()?;
        let mut differs = vec![0; first.len()];
        if first.len() > MAX_LITERAL_BYTES || values.lengths().any(|length| length as usize != first.len()) {
            return None;
        }
        for value in rows {
            differs.iter_mut().zip(first.iter().zip(value)).for_each(|(differs, (a, b))| *differs |= a ^ b);
        }
        let mut template = Self { parts: Vec::new(), end: Vec::new() };
        for (&byte, &differs) in first.iter().zip(&differs) {
            if differs == 0 {
                template.end.push(byte);
            } else if let Some((_, gap)) = template.parts.last_mut().filter(|_| template.end.is_empty()) {
                *gap += 1;
            } else {
                template.parts.push((std::mem::take(&mut template.end), 1));
            }
        }
        Some(template)
    }

    /// A single gap without literals.
    pub(super) fn none() -> Self {
        Self { parts: vec![(Vec::new(), 0)], end: Vec::new() }
    }

    /// Whether it has no literals.
    pub(super) fn is_none(&self) -> bool {
        self.parts.len() == 1 && self.literals() == 0
    }

    /// The literals before and after the only gap; `None` unless there is exactly one gap.
    pub(super) fn affixes(&self) -> Option<(&[u8], &[u8])> {
        if let [(prefix, _)] = self.parts.as_slice() { Some((prefix, &self.end)) } else { None }
    }

    /// The total length of the literals.
    pub(super) fn literals(&self) -> usize {
        self.parts.iter().map(|(literal, _)| literal.len()).sum::<usize>() + self.end.len()
    }

    /// The values without the literals.
    pub(super) fn strip(&self, values: Strings<'_>) -> StringBuffer {
        let mut left = StringBuffer::default();
        if let [(start, _)] = self.parts.as_slice() {
            values.iter().for_each(|value| left.push(&value[start.len()..value.len() - self.end.len()]));
            return left;
        }
        let mut gaps = Vec::new();
        for value in values.iter() {
            gaps.clear();
            let mut rest = &value[..value.len() - self.end.len()];
            for (at, (literal, gap)) in self.parts.iter().enumerate() {
                rest = &rest[literal.len()..];
                let last = at + 1 == self.parts.len();
                let (of_gap, after) = rest.split_at(if last { rest.len() } else { usize::from(*gap) });
                gaps.extend_from_slice(of_gap);
                rest = after;
            }
            left.push(&gaps);
        }
        left
    }

    /// Replaces `out` with the values whose gaps are filled from `left`.
    pub(super) fn fill(&self, left: &mut StringBuffer, out: &mut StringBuffer) -> Result<(), Malformed> {
        out.set_lengths(left.strings().lengths(), self.literals())?;
        let takes = self.parts.split_last().map_or(0, |(_, parts)| parts.iter().map(|part| usize::from(part.1)).sum());
        // Without gaps nothing may be left; otherwise enough for all gaps but the last.
        let fits = |length: u32| if self.parts.is_empty() { length == 0 } else { length as usize >= takes };
        if !left.strings().lengths().all(fits) {
            return Err(Malformed("what is left of a value does not fit the template"));
        }
        let literals: Vec<_> = self.parts.iter().map(|(literal, gap)| (padded(literal), literal.len(), *gap)).collect();
        let end = padded(&self.end);
        let (offsets, room) = out.room();
        let (lefts, left) = left.room();
        for (ends, &start) in lefts.windows(2).zip(offsets) {
            let (mut from, mut at) = (ends[0] as usize, start as usize);
            for (part, (literal, length, gap)) in literals.iter().enumerate() {
                copy(literal, room, at, *length);
                at += length;
                let rest = ends[1] as usize - from;
                let gap = if part + 1 == literals.len() { rest } else { usize::from(*gap) };
                copy(&left[from..], room, at, gap);
                from += gap;
                at += gap;
            }
            copy(&end, room, at, self.end.len());
        }
        Ok(())
    }

    /// Appends the template: the number of gaps, the lengths of each literal and the gap after it, then the literals.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.parts.len() as u8);
        out.extend(self.parts.iter().flat_map(|(literal, gap)| [literal.len() as u8, *gap]));
        out.push(self.end.len() as u8);
        self.parts.iter().for_each(|(literal, _)| out.extend_from_slice(literal));
        out.extend_from_slice(&self.end);
    }

    /// Takes a template off the front of `bytes`.
    pub(super) fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        const CUT: Malformed = Malformed("the template is cut off");
        let (&gaps, rest) = bytes.split_first().ok_or(CUT)?;
        let (lengths, mut rest) = rest.split_at_checked(2 * usize::from(gaps) + 1).ok_or(CUT)?;
        let mut literal = |length: u8| -> Result<Vec<u8>, Malformed> {
            let (literal, after) = rest.split_at_checked(usize::from(length)).ok_or(CUT)?;
            rest = after;
            Ok(literal.to_vec())
        };
        let (pairs, end) = lengths.as_chunks();
        let parts = pairs.iter().map(|&[length, gap]| Ok((literal(length)?, gap))).collect::<Result<_, Malformed>>()?;
        let template = Self { parts, end: literal(end[0])? };
        if template.literals() > MAX_LITERAL_BYTES {
            return Err(Malformed("the template is too long"));
        }
        *bytes = rest;
        Ok(template)
    }
}

/// A literal padded for [`copy`].
fn padded(literal: &[u8]) -> Vec<u8> {
    [literal, &[0; SLACK]].concat()
}

/// Copies `length` bytes and up to [`SLACK`] more, which is faster than an exact copy.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8], at: usize, length: usize) {
    let to = &mut to[at..at + length + SLACK];
    let mut done = 0;
    while done < length {
        to[done..done + SLACK].copy_from_slice(&from[done..done + SLACK]);
        done += SLACK;
    }
}

/// The length of the common prefix.
fn common<'a>(a: impl Iterator<Item = &'a u8>, b: impl Iterator<Item = &'a u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}
