//! What rows add to lanes: columns, or what is computed of them, written down as 64-bit integers some rows at a time.

use super::floats::Limbs;
use super::lanes::{CHUNK, Counted, MOST_LANES, Words};
use super::split::split;
use crate::cpu::{Kernel, Level, run_at};
use crate::direct::Key;
use brc_core::Integers;
use std::ops::Range;

/// What each row of a batch adds to a lane of its group.
#[derive(Debug, Clone, Copy)]
pub enum Addend<'a> {
    /// Just 1.
    One,
    /// An integer of up to 64 bits.
    Integers(Integers<'a>),
    /// A small integer and 1, in one word: see [`Counted`].
    Counted(Integers<'a>),
    /// The product of two.
    Products(Integers<'a>, Integers<'a>),
    /// The upper part of a float.
    High(&'a [f64], Limbs),
    /// The lower part.
    Low(&'a [f64], Limbs),
}

impl Addend<'_> {
    /// The number of rows that it has values for, or one that no batch has if its factors are not of as many; `None` if it
    /// fits any number.
    pub(super) fn rows(&self) -> Option<usize> {
        match self {
            Self::One => None,
            Self::Integers(values) | Self::Counted(values) => Some(values.len()),
            Self::Products(ones, others) => (ones.len() == others.len()).then_some(ones.len()).or(Some(usize::MAX)),
            Self::High(values, _) | Self::Low(values, _) => Some(values.len()),
        }
    }

    /// Writes down what some rows add.
    pub(super) fn write(&self, level: Level, start: usize, out: &mut [i64]) {
        let rows = start..start + out.len();
        match *self {
            Self::One => out.fill(1),
            Self::Integers(values) => widen(level, values, start, 0, out),
            Self::Counted(values) => widen(level, values, start, Counted::ONE, out),
            Self::Products(ones, others) => {
                let mut factors = [0; CHUNK];
                for (index, out) in out.chunks_mut(CHUNK).enumerate() {
                    let (start, factors) = (start + index * CHUNK, &mut factors[..out.len()]);
                    widen(level, ones, start, 0, out);
                    widen(level, others, start, 0, factors);
                    run_at(level, Multiply { factors, out });
                }
            }
            Self::High(values, limbs) => run_at(level, Split { values: &values[rows], limbs, high: true, out }),
            Self::Low(values, limbs) => run_at(level, Split { values: &values[rows], limbs, high: false, out }),
        }
    }
}

/// How the addends of a batch, each with its lane, are written down together.
pub(super) struct Writing<'a> {
    addends: &'a [(usize, Addend<'a>)],
    ways: [Way<'a>; MOST_LANES],
}

impl<'a> Writing<'a> {
    /// Of no more than [`MOST_LANES`].
    pub(super) fn of(addends: &'a [(usize, Addend<'a>)]) -> Self {
        debug_assert!(addends.len() <= MOST_LANES, "no more addends than lanes");
        Self { addends, ways: std::array::from_fn(|index| Way::of(addends, index)) }
    }

    /// Writes down what some rows, up to [`CHUNK`], add to the lanes.
    pub(super) fn write(&self, level: Level, rows: Range<usize>, words: &mut [Words; MOST_LANES]) {
        let Range { start, end } = rows;
        for ((lane, addend), way) in self.addends.iter().zip(&self.ways) {
            match way {
                Way::Product(factors) => multiply(level, words, *factors, *lane, end - start),
                Way::Split(values, limbs, low) => {
                    if let Ok([highs, lows]) = words.get_disjoint_mut([*lane, *low]) {
                        split(level, *limbs, &values[start..end], highs, lows);
                    }
                }
                Way::WithHigh => {}
                Way::Alone => addend.write(level, start, &mut words[*lane][..end - start]),
            }
        }
    }
}

/// How an addend is written down.
enum Way<'a> {
    Alone,
    /// Of what addends before it wrote down for these lanes: both factors of a product.
    Product([usize; 2]),
    /// Both parts of floats at once, the lower one for that lane.
    Split(&'a [f64], Limbs, usize),
    /// Already written by the addend before it.
    WithHigh,
}

impl<'a> Way<'a> {
    fn of(addends: &[(usize, Addend<'a>)], index: usize) -> Self {
        let low_of = |high: usize| match (addends.get(high)?.1, *addends.get(high + 1)?) {
            (Addend::High(values, limbs), (lane, Addend::Low(others, other_limbs))) => {
                (std::ptr::eq(values, others) && limbs == other_limbs).then_some((values, limbs, lane))
            }
            _ => None,
        };
        let Some((_, addend)) = addends.get(index) else { return Self::Alone };
        match *addend {
            Addend::Products(one, other) => {
                let lane_of = |factor: Integers<'_>| {
                    let mut before = addends[..index].iter();
                    before.find(|(_, it)| matches!(it, Addend::Integers(values) if is_same(*values, factor)))
                };
                lane_of(one).zip(lane_of(other)).map_or(Self::Alone, |(one, other)| Self::Product([one.0, other.0]))
            }
            Addend::High(..) => {
                low_of(index).map_or(Self::Alone, |(values, limbs, low)| Self::Split(values, limbs, low))
            }
            Addend::Low(..) if index.checked_sub(1).and_then(low_of).is_some() => Self::WithHigh,
            _ => Self::Alone,
        }
    }
}

/// Whether two slices are the same place in memory.
fn is_same(one: Integers<'_>, other: Integers<'_>) -> bool {
    match (one, other) {
        (Integers::I8(one), Integers::I8(other)) => std::ptr::eq(one, other),
        (Integers::I16(one), Integers::I16(other)) => std::ptr::eq(one, other),
        (Integers::I32(one), Integers::I32(other)) => std::ptr::eq(one, other),
        (Integers::I64(one), Integers::I64(other)) => std::ptr::eq(one, other),
        (Integers::I128(one), Integers::I128(other)) => std::ptr::eq(one, other),
        _ => false,
    }
}

/// Writes down the products of what was written down for two other lanes.
fn multiply(level: Level, words: &mut [Words; MOST_LANES], [one, other]: [usize; 2], lane: usize, count: usize) {
    if let Ok([one, out]) = words.get_disjoint_mut([one, lane]) {
        out[..count].copy_from_slice(&one[..count]);
    }
    if let Ok([other, out]) = words.get_disjoint_mut([other, lane]) {
        run_at(level, Multiply { factors: &other[..count], out: &mut out[..count] });
    }
}

/// Writes down integers, and `plus` with each; those of 128 bits are cut to 64.
fn widen(level: Level, values: Integers<'_>, start: usize, plus: i64, out: &mut [i64]) {
    let rows = start..start + out.len();
    match values {
        Integers::I8(values) => run_at(level, Widen { values: &values[rows], plus, out }),
        Integers::I16(values) => run_at(level, Widen { values: &values[rows], plus, out }),
        Integers::I32(values) => run_at(level, Widen { values: &values[rows], plus, out }),
        Integers::I64(values) => run_at(level, Widen { values: &values[rows], plus, out }),
        Integers::I128(values) => {
            values[rows].iter().zip(out).for_each(|(&value, out)| *out = (value as i64).wrapping_add(plus));
        }
    }
}

struct Widen<'a, T> {
    values: &'a [T],
    plus: i64,
    out: &'a mut [i64],
}

impl<T: Key> Kernel for Widen<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.out.iter_mut().zip(self.values).for_each(|(out, &value)| *out = self.plus.wrapping_add(value.into()));
    }
}

struct Multiply<'a> {
    factors: &'a [i64],
    out: &'a mut [i64],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.out.iter_mut().zip(self.factors).for_each(|(out, &factor)| *out = out.wrapping_mul(factor));
    }
}

struct Split<'a> {
    values: &'a [f64],
    limbs: Limbs,
    high: bool,
    out: &'a mut [i64],
}

impl Kernel for Split<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { values, limbs, high, out } = self;
        let pairs = out.iter_mut().zip(values);
        if high {
            pairs.for_each(|(out, &value)| *out = limbs.high(value));
        } else {
            pairs.for_each(|(out, &value)| *out = limbs.low(value));
        }
    }
}
