//! Puts together the values of a `case` or a `coalesce`: for each of its parts, the rows that are taken from it.

use super::{Frame, Lent, Step, truth};
use crate::group::Malformed;
use crate::memory::Allowance;
use crate::node::{Node, Scalar, Typed};
use crate::vector::{Fault, Strings, Values, Vector, View};
use brc_core::{BitmapBuffer, Column, Data, Dictionary, Integers, LogicalType, PhysicalType, Value};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{fill, place};
use std::sync::Arc;

/// What the values of a `case` or `coalesce` are.
pub(super) struct Shape {
    pub(super) output: LogicalType,
    /// There is one part only.
    is_one: bool,
    /// The strings of the parts, if all are constants.
    constants: Option<Arc<Dictionary>>,
}

/// Where rows are taken from.
pub(super) enum Part<'a> {
    Constant(Option<Scalar>),
    Column(Lent<'a>),
}

/// Which rows are taken from which part.
pub(super) struct Choice<'a> {
    rows: usize,
    /// Rows that are not taken yet.
    pub(super) left: Vec<u64>,
    /// Parts that rows are taken from, with the bits of these rows.
    parts: Vec<(Vec<u64>, Part<'a>)>,
}

impl Shape {
    pub(super) fn new<'t>(output: LogicalType, parts: impl Iterator<Item = &'t Typed>) -> Self {
        let parts: Vec<_> = parts.collect();
        let text = |part: &&Typed| match &part.node {
            Node::Literal(Some(Scalar::Bytes(text))) => Some(text.clone()),
            Node::Literal(None) => Some(Vec::new()),
            _ => None,
        };
        let mut texts = match output.physical() {
            PhysicalType::Bytes => parts.iter().map(text).collect::<Option<Vec<_>>>(),
            PhysicalType::Integers | PhysicalType::Floats => None,
        };
        if let Some(texts) = &mut texts {
            texts.sort_unstable();
            texts.dedup();
        }
        let constants = texts.map(|texts| Arc::new(texts.iter().map(Vec::as_slice).collect()));
        Self { output, is_one: parts.len() == 1, constants }
    }
}

impl Step {
    /// What rows whose bits are set may be taken from; others have any value.
    pub(super) fn part<'a>(
        &mut self,
        frame: &Frame<'a, '_>,
        wanted: &[u64],
        output: LogicalType,
    ) -> Result<Part<'a>, Fault> {
        match self {
            Self::Constant(value, _) => Ok(Part::Constant(value.clone())),
            _ => self.run_where(frame, wanted, output).map(Part::Column),
        }
    }
}

impl Part<'_> {
    /// The rows that are not null.
    pub(super) fn valid(&self, rows: usize) -> Vec<u64> {
        match self {
            Self::Constant(Some(_)) => truth::all(rows),
            Self::Constant(None) => vec![0; truth::all(rows).len()],
            Self::Column(lent) => truth::valid(&lent.column(), rows),
        }
    }
}

impl<'a> Choice<'a> {
    pub(super) fn new(rows: usize) -> Self {
        Self { rows, left: truth::all(rows), parts: Vec::new() }
    }

    /// Takes the rows that are left and whose bits are set from a part, if there are any.
    pub(super) fn take(
        &mut self,
        mut wanted: Vec<u64>,
        part: impl FnOnce(&[u64]) -> Result<Part<'a>, Fault>,
    ) -> Result<(), Fault> {
        wanted.iter_mut().zip(&self.left).for_each(|(wanted, left)| *wanted &= left);
        if wanted.iter().all(|&word| word == 0) {
            return Ok(());
        }
        self.left.iter_mut().zip(&wanted).for_each(|(left, taken)| *left &= !taken);
        let part = part(&wanted)?;
        self.parts.push((wanted, part));
        Ok(())
    }

    /// The values of all rows; those that are left are null.
    pub(super) fn values(mut self, level: Level, shape: &Shape) -> Result<Lent<'a>, Fault> {
        let validity = self.validity();
        let physical = shape.output.physical();
        // Strings that come as codes have the same dictionary in all batches.
        if (shape.is_one || physical != PhysicalType::Bytes) && self.parts.len() == 1 {
            match self.parts.pop() {
                Some((_, Part::Column(Lent::Vector(vector)))) => {
                    return Ok(Lent::Vector(Vector { validity, ..vector }));
                }
                Some((_, Part::Column(Lent::Column(Column { data, .. }) | Lent::Masked { data, .. })))
                    if !matches!(data, Data::Runs { .. }) =>
                {
                    return Ok(Lent::Masked { data, validity });
                }
                other => self.parts.extend(other),
            }
        }
        let values = match (physical, &shape.constants) {
            (PhysicalType::Integers, _) => self.integers(level)?,
            (PhysicalType::Floats, _) => self.floats(level)?,
            (PhysicalType::Bytes, Some(constants)) => self.codes(level, constants),
            (PhysicalType::Bytes, None) => self.strings(level)?,
        };
        Ok(Lent::Vector(Vector { values, validity }))
    }

    fn validity(&self) -> BitmapBuffer {
        let mut valid = vec![0; self.left.len()];
        for (mask, part) in &self.parts {
            let words = part.valid(self.rows);
            valid.iter_mut().zip(mask.iter().zip(words)).for_each(|(valid, (mask, word))| *valid |= mask & word);
        }
        BitmapBuffer::of_words(&valid, self.rows)
    }

    /// In the fewest bits that all of them need.
    fn integers(&self, level: Level) -> Result<Values, Fault> {
        let bits = self.parts.iter().map(|(_, part)| bits(part)).max().unwrap_or(8);
        Ok(match bits {
            8 => Values::Truths(self.merged(level)?),
            32 => Values::Short(self.merged(level)?),
            64 => Values::Narrow(self.merged(level)?),
            _ => Values::Wide(self.merged(level)?),
        })
    }

    fn merged<T: Target>(&self, level: Level) -> Result<Vec<T>, Fault> {
        let mut out = vec![T::default(); self.rows];
        for (mask, part) in &self.parts {
            match part {
                Part::Constant(Some(Scalar::Integer(value))) => fill(level, T::cut(*value), mask, &mut out),
                Part::Constant(_) => {}
                Part::Column(lent) => match lent.column().data {
                    Data::Integers(values) if values.len() == self.rows => T::place(level, values, mask, &mut out),
                    _ => return Err(Fault::Malformed("a column of numbers is not there")),
                },
            }
        }
        Ok(out)
    }

    fn floats(&self, level: Level) -> Result<Values, Fault> {
        let mut out = vec![0.0; self.rows];
        for (mask, part) in &self.parts {
            match part {
                Part::Constant(Some(Scalar::Float(bits))) => fill(level, f64::from_bits(*bits), mask, &mut out),
                Part::Constant(_) => {}
                Part::Column(lent) => match lent.column().data {
                    Data::Floats(values) if values.len() == self.rows => place(level, values, mask, &mut out),
                    _ => return Err(Fault::Malformed("a column of numbers is not there")),
                },
            }
        }
        Ok(Values::Floats(out))
    }

    fn codes(&self, level: Level, constants: &Arc<Dictionary>) -> Values {
        let mut codes = vec![0; self.rows];
        for (mask, part) in &self.parts {
            if let Part::Constant(Some(Scalar::Bytes(text))) = part {
                let code = (0..constants.len() as u32).find(|&code| constants.get(code) == text);
                fill(level, code.unwrap_or(0), mask, &mut codes);
            }
        }
        Values::Codes { codes, dictionary: Arc::clone(constants) }
    }

    fn strings(&self, level: Level) -> Result<Values, Fault> {
        let mut of_rows = vec![0u32; self.rows];
        for (number, (mask, _)) in (1..).zip(&self.parts) {
            fill(level, number, mask, &mut of_rows);
        }
        let columns = self.parts.iter().map(|(_, part)| match part {
            Part::Column(lent) => Some(lent.column()),
            Part::Constant(_) => None,
        });
        let columns: Vec<_> = columns.collect();
        let views = columns.iter().map(|column| column.as_ref().map(View::of).transpose());
        let views = views.collect::<Result<Vec<_>, Malformed>>()?;
        let bytes = |row: usize, part: usize| match (views.get(part), self.parts.get(part)) {
            (Some(Some(view)), _) if view.is_valid(row) => view.bytes(row),
            (_, Some((_, Part::Constant(Some(Scalar::Bytes(text)))))) => text,
            _ => &[],
        };
        let mut strings = Strings::default();
        for (row, &part) in of_rows.iter().enumerate() {
            strings
                .push(Allowance::default(), |out| out.extend_from_slice(bytes(row, (part as usize).wrapping_sub(1))))?;
        }
        Ok(Values::Strings(strings))
    }
}

/// How wide the integers of a part are.
fn bits(part: &Part<'_>) -> u32 {
    match part {
        Part::Constant(value) => match value.as_ref().map(Scalar::value) {
            Some(Value::Integer(value)) if i8::try_from(value).is_ok() => 8,
            Some(Value::Integer(value)) if i32::try_from(value).is_ok() => 32,
            Some(Value::Integer(value)) if i64::try_from(value).is_ok() => 64,
            Some(Value::Integer(_)) => 128,
            Some(Value::Float(_) | Value::Bytes(_)) | None => 8,
        },
        Part::Column(lent) => match lent.column().data {
            Data::Integers(Integers::I8(_)) => 8,
            Data::Integers(Integers::I16(_) | Integers::I32(_)) => 32,
            Data::Integers(Integers::I64(_)) => 64,
            _ => 128,
        },
    }
}

/// Integers that those of parts, which are no wider, become.
trait Target: Copy + Default {
    fn cut(value: i128) -> Self;
    fn place(level: Level, values: Integers<'_>, mask: &[u64], out: &mut [Self]);
}

macro_rules! target {
    ($target:ident: $($width:ident)+) => {
        impl Target for $target {
            fn cut(value: i128) -> Self {
                value as $target
            }

            #[allow(unreachable_patterns, reason = "one text for all widths")]
            fn place(level: Level, values: Integers<'_>, mask: &[u64], out: &mut [Self]) {
                match values {
                    $(Integers::$width(values) => place(level, values, mask, out),)+
                    _ => {}
                }
            }
        }
    };
}

target!(i8: I8);
target!(i32: I8 I16 I32);
target!(i64: I8 I16 I32 I64);
target!(i128: I8 I16 I32 I64 I128);
