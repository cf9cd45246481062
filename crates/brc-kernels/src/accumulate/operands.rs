//! The inputs of the accumulator slots: columns or expressions of them, evaluated to 64-bit integers a chunk of rows at
//! a time.

use super::floats::Limbs;
use super::split::split;
use super::table::{CHUNK, Counted, MAX_SLOTS, Words};
use crate::cpu::{Kernel, Level, run_at};
use crate::direct::Key;
use brc_core::Integers;
use std::ops::Range;

/// The value that each row of a batch adds to a slot of its group.
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a> {
    /// The constant 1.
    One,
    /// An integer of up to 64 bits.
    Integers(Integers<'a>),
    /// A small integer and a count of 1 in one word: see [`Counted`].
    Counted(Integers<'a>),
    /// The product of two integers.
    Products(Integers<'a>, Integers<'a>),
    /// The upper limb of a float.
    High(&'a [f64], Limbs),
    /// The lower limb of a float.
    Low(&'a [f64], Limbs),
}

impl Operand<'_> {
    /// The number of rows of the input columns; `usize::MAX`, which matches no batch, if two factors differ in length;
    /// `None` if any number of rows matches.
    pub(super) fn rows(&self) -> Option<usize> {
        match self {
            Self::One => None,
            Self::Integers(values) | Self::Counted(values) => Some(values.len()),
            Self::Products(ones, others) => (ones.len() == others.len()).then_some(ones.len()).or(Some(usize::MAX)),
            Self::High(values, _) | Self::Low(values, _) => Some(values.len()),
        }
    }

    /// Evaluates the operand for the rows from `start` on.
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

/// The evaluation of all operands of a batch, each with its slot.
pub(super) struct Evaluator<'a> {
    operands: &'a [(usize, Operand<'a>)],
    evaluations: [Evaluation<'a>; MAX_SLOTS],
}

impl<'a> Evaluator<'a> {
    /// Plans the evaluation of at most [`MAX_SLOTS`] operands.
    pub(super) fn of(operands: &'a [(usize, Operand<'a>)]) -> Self {
        debug_assert!(operands.len() <= MAX_SLOTS, "no more operands than slots");
        Self { operands, evaluations: std::array::from_fn(|index| Evaluation::of(operands, index)) }
    }

    /// Evaluates the operands of at most [`CHUNK`] rows.
    pub(super) fn write(&self, level: Level, rows: Range<usize>, words: &mut [Words; MAX_SLOTS]) {
        let Range { start, end } = rows;
        for ((slot, operand), evaluation) in self.operands.iter().zip(&self.evaluations) {
            match evaluation {
                Evaluation::Product(factors) => multiply(level, words, *factors, *slot, end - start),
                Evaluation::Split(values, limbs, low) => {
                    if let Ok([highs, lows]) = words.get_disjoint_mut([*slot, *low]) {
                        split(level, *limbs, &values[start..end], highs, lows);
                    }
                }
                Evaluation::WithHigh => {}
                Evaluation::Alone => operand.write(level, start, &mut words[*slot][..end - start]),
            }
        }
    }
}

/// How an operand is evaluated.
enum Evaluation<'a> {
    Alone,
    /// From the already evaluated operands of these two slots, which are the factors of a product.
    Product([usize; 2]),
    /// Both limbs of floats at once; the index is the slot of the lower limb.
    Split(&'a [f64], Limbs, usize),
    /// Nothing to do: evaluated together with the preceding operand.
    WithHigh,
}

impl<'a> Evaluation<'a> {
    fn of(operands: &[(usize, Operand<'a>)], index: usize) -> Self {
        let low_of = |high: usize| match (operands.get(high)?.1, *operands.get(high + 1)?) {
            (Operand::High(values, limbs), (slot, Operand::Low(others, other_limbs))) => {
                (std::ptr::eq(values, others) && limbs == other_limbs).then_some((values, limbs, slot))
            }
            _ => None,
        };
        let Some((_, operand)) = operands.get(index) else { return Self::Alone };
        match *operand {
            Operand::Products(one, other) => {
                let slot_of = |factor: Integers<'_>| {
                    let mut before = operands[..index].iter();
                    before.find(|(_, it)| matches!(it, Operand::Integers(values) if is_same(*values, factor)))
                };
                slot_of(one).zip(slot_of(other)).map_or(Self::Alone, |(one, other)| Self::Product([one.0, other.0]))
            }
            Operand::High(..) => {
                low_of(index).map_or(Self::Alone, |(values, limbs, low)| Self::Split(values, limbs, low))
            }
            Operand::Low(..) if index.checked_sub(1).and_then(low_of).is_some() => Self::WithHigh,
            _ => Self::Alone,
        }
    }
}

/// Whether two slices are the same memory.
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

/// Multiplies the evaluated operands of two other slots.
fn multiply(level: Level, words: &mut [Words; MAX_SLOTS], [one, other]: [usize; 2], slot: usize, count: usize) {
    if let Ok([one, out]) = words.get_disjoint_mut([one, slot]) {
        out[..count].copy_from_slice(&one[..count]);
    }
    if let Ok([other, out]) = words.get_disjoint_mut([other, slot]) {
        run_at(level, Multiply { factors: &other[..count], out: &mut out[..count] });
    }
}

/// Widens integers and adds `plus` to each; 128-bit integers are truncated to 64 bits.
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
