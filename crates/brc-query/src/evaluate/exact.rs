//! Sums, differences and products of integers, a few hundred rows at a time: intermediate values stay in the
//! first-level cache, and constants are no columns.
//!
//! The bounds of the columns show beforehand whether anything may need more than 64 bits; then it is computed call by
//! call. Mostly the bounds of their types suffice, and no value is read.

use super::{Evaluated, Frame, Step};
use crate::functions::Exact as Operator;
use crate::functions::typed::{Node, Scalar, Typed};
use crate::values::error::EvalError;
use crate::values::view::both_valid;
use brc_core::{Array, Batch, BitmapBuffer, Data, Integers, LogicalType};
use brc_kernels::arithmetic::{Line, Operation, append, combine, combine_with, scale};
use brc_kernels::cpu::Level;
use brc_kernels::direct::integer_bounds;
use std::ops::Range;

/// Rows that are computed at a time.
const BLOCK: usize = 512;

pub(super) struct Exact {
    tree: Tree,
    /// Between which two values those of its type lie, or those of 64 bits.
    output: (i64, i64),
    /// What is no such operation itself.
    leaves: Vec<Step>,
    /// Computes it where 64 bits may not suffice.
    otherwise: Step,
    /// Memory for what is between.
    spare: Vec<Vec<i64>>,
}

enum Tree {
    Leaf(usize),
    Constant(i64),
    Linear { line: Line, of: Box<Tree> },
    Combined { operation: Operation, sides: Box<[Tree; 2]> },
}

impl Exact {
    /// Computes an expression if it is such an operation, else it is left to `otherwise`; `step` computes what it is
    /// of.
    pub(super) fn step(typed: &Typed, step: impl Fn(&Typed) -> Step, otherwise: Step) -> Step {
        let mut leaves = Vec::new();
        let tree = Tree::operation(typed, &mut |leaf: &Typed| {
            leaves.push(step(leaf));
            leaves.len() - 1
        });
        match (tree, typed.logical_type.bounds()) {
            (Some(tree @ (Tree::Linear { .. } | Tree::Combined { .. })), Some((min, max))) => {
                let output = (min.max(i64::MIN.into()) as i64, max.min(i64::MAX.into()) as i64);
                let spare = vec![Vec::with_capacity(BLOCK); tree.depth()];
                Step::Exact(Box::new(Self { tree, output, leaves, otherwise, spare }))
            }
            (_, _) => otherwise,
        }
    }

    pub(super) fn run<'a>(&mut self, frame: &Frame<'a, '_>) -> Result<Evaluated<'a>, EvalError> {
        let leaves = self.leaves.iter_mut().map(|leaf| leaf.run(frame)).collect::<Result<Vec<_>, _>>()?;
        match compute((&self.tree, self.output), frame, &leaves, &mut self.spare) {
            Some(array) => Ok(Evaluated::Array(array)),
            None => self.otherwise.run(frame),
        }
    }
}

/// The values of all rows; `None` if 64 bits, or the type, may not suffice.
fn compute(
    (tree, output): (&Tree, (i64, i64)),
    frame: &Frame<'_, '_>,
    leaves: &[Evaluated<'_>],
    spare: &mut [Vec<i64>],
) -> Option<Array> {
    let Batch { rows, .. } = frame.batch;
    let columns: Vec<_> = leaves.iter().map(Evaluated::column).collect();
    let integers = columns.iter().map(|column| match column.data {
        Data::Integers(values) if values.len() == rows => Some(values),
        _ => None,
    });
    let integers = integers.collect::<Option<Vec<_>>>()?;
    let of_types = integers.iter().map(type_bounds).collect::<Option<Vec<_>>>()?;
    let fits = |(min, max): (i64, i64)| output.0 <= min && max <= output.1;
    if !tree.bounds(&of_types).is_some_and(fits) {
        let of_values = integers.iter().map(|&values| integer_bounds(frame.level, values));
        tree.bounds(&of_values.collect::<Option<Vec<_>>>()?).filter(|&bounds| fits(bounds))?;
    }
    let mut validity = BitmapBuffer::default();
    validity.push_values(rows);
    for column in columns.iter().filter(|column| column.has_nulls()) {
        validity = both_valid(rows, validity.bitmap(), column.validity);
    }
    let mut values = Vec::with_capacity(rows);
    for first in (0..rows).step_by(BLOCK) {
        tree.append(frame.level, &integers, first..rows.min(first + BLOCK), &mut values, spare);
    }
    Some(Array { data: values.into(), validity })
}

/// Between which values those of a type lie; `None` if it has more than 64 bits.
fn type_bounds(integers: &Integers<'_>) -> Option<(i64, i64)> {
    match integers {
        Integers::I8(_) => Some((i8::MIN.into(), i8::MAX.into())),
        Integers::I16(_) => Some((i16::MIN.into(), i16::MAX.into())),
        Integers::I32(_) => Some((i32::MIN.into(), i32::MAX.into())),
        Integers::I64(_) => Some((i64::MIN, i64::MAX)),
        Integers::I128(_) => None,
    }
}

/// The operation that an expression is, and of what.
fn exact_of(typed: &Typed) -> Option<(Operator, &[Typed; 2])> {
    let Node::Call { function, arguments } = &typed.node else { return None };
    Some(((function.0.bind)(arguments).ok()?.exact?, arguments.first_chunk().filter(|_| arguments.len() == 2)?))
}

impl Tree {
    /// The operations that an expression is of; `leaf` gives a number to what is none, and to dates, which have fewer
    /// values than 64 bits. `None` if something needs more than 64 bits.
    fn of(typed: &Typed, leaf: &mut impl FnMut(&Typed) -> usize) -> Option<Self> {
        if let Node::Literal(Some(Scalar::Integer(value))) = &typed.node {
            return i64::try_from(*value).ok().map(Self::Constant);
        }
        if typed.logical_type != LogicalType::Date && exact_of(typed).is_some() {
            return Self::operation(typed, leaf);
        }
        typed.logical_type.fits_64_bits().then(|| Self::Leaf(leaf(typed)))
    }

    fn operation(typed: &Typed, leaf: &mut impl FnMut(&Typed) -> usize) -> Option<Self> {
        let (Operator { operation, factors }, [one, other]) = exact_of(typed)?;
        let one = Self::of(one, leaf)?.times(i64::try_from(factors[0]).ok()?)?;
        let other = Self::of(other, leaf)?.times(i64::try_from(factors[1]).ok()?)?;
        one.combined(operation, other)
    }

    fn times(self, factor: i64) -> Option<Self> {
        Some(match self {
            Self::Constant(value) => Self::Constant(value.checked_mul(factor)?),
            of if factor == 1 => of,
            of => Self::Linear { line: Line { factor, plus: 0 }, of: Box::new(of) },
        })
    }

    /// An operation; `None` if it is one of constants.
    fn combined(self, operation: Operation, other: Self) -> Option<Self> {
        let linear = |factor, plus, of| Some(Self::Linear { line: Line { factor, plus }, of: Box::new(of) });
        match (operation, self, other) {
            (_, Self::Constant(_), Self::Constant(_)) => None,
            (Operation::Add, of, Self::Constant(plus)) | (Operation::Add, Self::Constant(plus), of) => {
                linear(1, plus, of)
            }
            (Operation::Subtract, of, Self::Constant(value)) => linear(1, value.checked_neg()?, of),
            (Operation::Subtract, Self::Constant(plus), of) => linear(-1, plus, of),
            (Operation::Multiply, of, Self::Constant(factor)) | (Operation::Multiply, Self::Constant(factor), of) => {
                linear(factor, 0, of)
            }
            (operation, one, other) => Some(Self::Combined { operation, sides: Box::new([one, other]) }),
        }
    }

    /// How many blocks it needs besides its own.
    fn depth(&self) -> usize {
        match self {
            Self::Leaf(_) | Self::Constant(_) => 0,
            Self::Linear { of, .. } => of.depth(),
            Self::Combined { sides, .. } => {
                let other = if sides[1].line().is_some() { 0 } else { sides[1].depth() + 1 };
                sides[0].depth().max(other)
            }
        }
    }

    /// The leaf that it is a line of, if it is.
    fn line(&self) -> Option<(Line, usize)> {
        match self {
            Self::Leaf(leaf) => Some((Line::IDENTITY, *leaf)),
            Self::Linear { line, of } => match **of {
                Self::Leaf(leaf) => Some((*line, leaf)),
                _ => None,
            },
            Self::Constant(_) | Self::Combined { .. } => None,
        }
    }

    /// Between which two values its own lie, where those of leaves lie between such; `None` if they may need more than
    /// 64 bits.
    fn bounds(&self, leaves: &[(i64, i64)]) -> Option<(i64, i64)> {
        let (ones, others, operation) = match self {
            Self::Leaf(leaf) => return leaves.get(*leaf).copied(),
            Self::Constant(value) => return Some((*value, *value)),
            Self::Linear { line: Line { factor, plus }, of } => {
                let scaled = hull(of.bounds(leaves)?, (*factor, *factor), Operation::Multiply)?;
                (scaled, (*plus, *plus), Operation::Add)
            }
            Self::Combined { operation, sides } => (sides[0].bounds(leaves)?, sides[1].bounds(leaves)?, *operation),
        };
        hull(ones, others, operation)
    }

    /// Appends the values of some rows.
    fn append(
        &self,
        level: Level,
        leaves: &[Integers<'_>],
        rows: Range<usize>,
        values: &mut Vec<i64>,
        spare: &mut [Vec<i64>],
    ) {
        let first = values.len();
        match self {
            Self::Leaf(leaf) => append(level, Line::IDENTITY, leaves[*leaf].slice(rows), values),
            Self::Constant(value) => values.resize(first + rows.len(), *value),
            Self::Linear { line, of } => match **of {
                Self::Leaf(leaf) => append(level, *line, leaves[leaf].slice(rows), values),
                _ => {
                    of.append(level, leaves, rows, values, spare);
                    scale(level, line.factor, line.plus, &mut values[first..]);
                }
            },
            Self::Combined { operation, sides } => {
                let [one, other] = &**sides;
                one.append(level, leaves, rows.clone(), values, spare);
                if let Some((line, leaf)) = other.line() {
                    combine_with(level, *operation, &mut values[first..], line, leaves[leaf].slice(rows));
                } else if let Some((others, spare)) = spare.split_first_mut() {
                    others.clear();
                    other.append(level, leaves, rows, others, spare);
                    combine(level, *operation, &mut values[first..], others);
                }
            }
        }
    }
}

/// What an operation makes of values between bounds: it is the largest or the smallest at some of them.
fn hull(ones: (i64, i64), others: (i64, i64), operation: Operation) -> Option<(i64, i64)> {
    let corners = [(ones.0, others.0), (ones.0, others.1), (ones.1, others.0), (ones.1, others.1)];
    let values = corners.map(|(one, other)| match operation {
        Operation::Add => one.checked_add(other),
        Operation::Subtract => one.checked_sub(other),
        Operation::Multiply => one.checked_mul(other),
    });
    let [a, b, c, d] = values;
    let values = [a?, b?, c?, d?];
    Some((values.into_iter().min()?, values.into_iter().max()?))
}
