//! Assembles the values of a `case` or a `coalesce` from the rows of each branch.

use super::{Columns, Evaluated, Frame, Step, truth};
use crate::functions::typed::{Node, Scalar, Typed};
use crate::values::error::BatchError;
use crate::values::error::EvalError;
use crate::values::view::View;
use brc_core::batch::codes_of;
use brc_core::{
    Array, ArrayData, BitmapBuffer, Column, Data, Dictionary, Integers, LogicalType, PhysicalType, StringBuffer, Value,
};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{fill, place};

/// What the values of a `case` or `coalesce` are.
pub(super) struct Shape {
    pub(super) output: LogicalType,
    /// There is one part only.
    is_one: bool,
    texts: Texts,
}

/// What is known of strings before they come.
enum Texts {
    Any,
    /// All parts are constants: these.
    Constants(Dictionary),
    /// All parts are constants or the column at `position` of batches.
    OfColumn {
        position: usize,
        constants: Vec<Vec<u8>>,
        known: Option<Known>,
    },
}

/// The first dictionary that a column came with, if that is complete, and the same with the constants that it did not
/// have.
struct Known {
    of_column: Dictionary,
    with_constants: Dictionary,
    constants: Vec<(Vec<u8>, u32)>,
}

impl Known {
    fn of(of_column: &Dictionary, constants: &[Vec<u8>]) -> Self {
        let mut codes = vec![None; constants.len()];
        for (value, code) in of_column.iter().zip(0..) {
            let found = constants.iter().position(|constant| constant == value);
            found.iter().for_each(|&constant| codes[constant] = Some(code));
        }
        let mut with_constants = of_column.clone();
        let code = |(constant, code): (&Vec<u8>, Option<u32>)| {
            (constant.clone(), code.unwrap_or_else(|| with_constants.push(constant)))
        };
        let constants = constants.iter().zip(codes).map(code).collect();
        Self { of_column: of_column.clone(), with_constants: with_constants.complete(), constants }
    }

    /// The code of a constant.
    fn code(&self, text: &[u8]) -> Option<u32> {
        self.constants.iter().find(|(constant, _)| constant == text).map(|&(_, code)| code)
    }
}

/// Where rows are taken from.
pub(super) enum Part<'a> {
    Constant(Option<Scalar>),
    Column(Evaluated<'a>),
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
    /// For parts that are computed of these columns. Strings come as strings, unless they may have codes: where it is
    /// not known beforehand who computes a batch, its codes would not be those of others.
    pub(super) fn new<'t>(
        output: LogicalType,
        parts: impl Iterator<Item = &'t Typed>,
        may_have_codes: bool,
        columns: Columns<'_>,
    ) -> Self {
        let parts: Vec<_> = parts.collect();
        let texts = match output.physical() {
            PhysicalType::Bytes if may_have_codes => Texts::of(&parts, columns),
            PhysicalType::Bytes | PhysicalType::Integers | PhysicalType::Floats => Texts::Any,
        };
        Self { output, is_one: may_have_codes && parts.len() == 1, texts }
    }

    /// All strings that there may be, with the codes of the constants among them.
    fn known(&mut self, columns: &[Column<'_>]) -> Option<&Known> {
        let Texts::OfColumn { position, constants, known } = &mut self.texts else { return None };
        let dictionary = columns.get(*position)?.dictionary().filter(|it| it.is_complete() && !it.is_empty())?;
        let known = known.get_or_insert_with(|| Known::of(dictionary, constants));
        known.of_column.shares(dictionary).then_some(known)
    }
}

impl Texts {
    fn of(parts: &[&Typed], columns: Columns<'_>) -> Self {
        let (mut constants, mut used) = (Vec::new(), Vec::new());
        for part in parts {
            match &part.node {
                Node::Literal(Some(Scalar::Bytes(text))) => constants.push(text.clone()),
                Node::Literal(None) => {}
                Node::Column(column) => used.push(*column),
                _ => return Self::Any,
            }
        }
        constants.sort_unstable();
        constants.dedup();
        used.dedup();
        match used[..] {
            // What is null has the first code.
            [] if constants.is_empty() => Self::Constants([""].into_iter().collect()),
            [] => Self::Constants(constants.iter().map(Vec::as_slice).collect()),
            [column] => Self::OfColumn { position: columns.position(column), constants, known: None },
            _ => Self::Any,
        }
    }
}

impl Step {
    /// What rows whose bits are set may be taken from; others have any value.
    pub(super) fn part<'a>(
        &mut self,
        frame: &Frame<'a, '_>,
        wanted: &[u64],
        output: LogicalType,
    ) -> Result<Part<'a>, EvalError> {
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
        part: impl FnOnce(&[u64]) -> Result<Part<'a>, EvalError>,
    ) -> Result<(), EvalError> {
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
    pub(super) fn values(mut self, frame: &Frame<'a, '_>, shape: &mut Shape) -> Result<Evaluated<'a>, EvalError> {
        let validity = self.validity();
        let physical = shape.output.physical();
        // Strings that come as codes have the same dictionary in all batches.
        if (shape.is_one || physical != PhysicalType::Bytes) && self.parts.len() == 1 {
            match self.parts.pop() {
                Some((_, Part::Column(Evaluated::Array(array)))) => {
                    return Ok(Evaluated::Array(Array { validity, ..array }));
                }
                Some((_, Part::Column(Evaluated::Column(Column { data, .. }) | Evaluated::Masked { data, .. })))
                    if !matches!(data, Data::Runs { .. }) =>
                {
                    return Ok(Evaluated::Masked { data, validity });
                }
                other => self.parts.extend(other),
            }
        }
        let level = frame.level;
        let data = match (physical, &shape.texts) {
            (PhysicalType::Integers, _) => self.integers(level)?,
            (PhysicalType::Floats, _) => self.floats(level)?,
            (PhysicalType::Bytes, Texts::Constants(constants)) => {
                let code = |text: &[u8]| (0..constants.len() as u32).find(|&code| constants.get(code) == text);
                self.codes(level, constants, code)
            }
            (PhysicalType::Bytes, Texts::Any) => self.strings(level)?,
            (PhysicalType::Bytes, Texts::OfColumn { .. }) => match shape.known(frame.batch.columns) {
                Some(known) => self.codes(level, &known.with_constants, |text| known.code(text)),
                None => self.strings(level)?,
            },
        };
        Ok(Evaluated::Array(Array { data, validity }))
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
    fn integers(&self, level: Level) -> Result<ArrayData, EvalError> {
        let bits = self.parts.iter().map(|(_, part)| bits(part)).max().unwrap_or(8);
        Ok(match bits {
            8 => self.merged::<i8>(level)?.into(),
            32 => self.merged::<i32>(level)?.into(),
            64 => self.merged::<i64>(level)?.into(),
            _ => self.merged::<i128>(level)?.into(),
        })
    }

    fn merged<T: Target>(&self, level: Level) -> Result<Vec<T>, EvalError> {
        let mut out = vec![T::default(); self.rows];
        for (mask, part) in &self.parts {
            match part {
                Part::Constant(Some(Scalar::Integer(value))) => fill(level, T::cut(*value), mask, &mut out),
                Part::Constant(_) => {}
                Part::Column(lent) => match lent.column().data {
                    Data::Integers(values) if values.len() == self.rows => T::place(level, values, mask, &mut out),
                    _ => return Err(EvalError::Batch("a column of numbers is not there")),
                },
            }
        }
        Ok(out)
    }

    fn floats(&self, level: Level) -> Result<ArrayData, EvalError> {
        let mut out = vec![0.0; self.rows];
        for (mask, part) in &self.parts {
            match part {
                Part::Constant(Some(Scalar::Float(bits))) => fill(level, f64::from_bits(*bits), mask, &mut out),
                Part::Constant(_) => {}
                Part::Column(lent) => match lent.column().data {
                    Data::Floats(values) if values.len() == self.rows => place(level, values, mask, &mut out),
                    _ => return Err(EvalError::Batch("a column of numbers is not there")),
                },
            }
        }
        Ok(out.into())
    }

    /// Strings as codes of a dictionary: a constant's as given, a column's as they are.
    fn codes(&self, level: Level, dictionary: &Dictionary, code: impl Fn(&[u8]) -> Option<u32>) -> ArrayData {
        let (mut codes, mut of_column) = (vec![0; self.rows], Vec::new());
        for (mask, part) in &self.parts {
            match part {
                Part::Constant(Some(Scalar::Bytes(text))) => fill(level, code(text).unwrap_or(0), mask, &mut codes),
                Part::Constant(_) => {}
                Part::Column(lent) => {
                    of_column.clear();
                    codes_of(&lent.column(), &mut of_column);
                    place(level, &of_column, mask, &mut codes);
                }
            }
        }
        ArrayData::Codes { codes, dictionary: dictionary.clone() }
    }

    fn strings(&self, level: Level) -> Result<ArrayData, EvalError> {
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
        let views = views.collect::<Result<Vec<_>, BatchError>>()?;
        let bytes = |row: usize, part: usize| match (views.get(part), self.parts.get(part)) {
            (Some(Some(view)), _) if view.is_valid(row) => view.bytes(row),
            (_, Some((_, Part::Constant(Some(Scalar::Bytes(text)))))) => text,
            _ => &[],
        };
        let mut strings = StringBuffer::default();
        let mut strings_of_rows =
            of_rows.iter().enumerate().map(|(row, &part)| bytes(row, (part as usize).wrapping_sub(1)));
        strings_of_rows.try_for_each(|string| strings.push(string))?;
        Ok(strings.into())
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

#[cfg(test)]
mod tests {
    use super::super::Program;
    use super::*;
    use crate::runtime::memory::Allowance;
    use brc_core::{Batch, ByteStrings, Field, Predicate};
    use proptest::prelude::*;

    fn text(value: Option<&str>) -> Typed {
        Typed::literal(LogicalType::String, value.map(|value| Scalar::Bytes(value.as_bytes().to_vec())))
    }

    /// What looks at one column only is computed for rows first, and for the values of a large dictionary later.
    #[test]
    fn codes_stand_for_the_same_strings_in_all_batches() {
        const VALUES: u32 = 70_000;
        const ROWS: u32 = 40_000;
        let dictionary: Dictionary = (0..VALUES).map(|value| format!("v{value}")).collect();
        let dictionary = dictionary.complete();
        let fields = [Field { name: "s".to_owned(), logical_type: LogicalType::String, nullable: true }];
        let about = Columns { fields: &fields, projection: &[0], allowance: Allowance::default() };
        let column = || Typed::column(0, LogicalType::String, true);
        let is_null = || Typed::truth(Node::IsNull(Box::new(column())), false);
        let case = |when, then, otherwise: Option<Typed>| Node::Case {
            branches: vec![(when, then)],
            otherwise: otherwise.map(Box::new),
        };
        let is_there = || Typed::truth(Node::Not(Box::new(is_null())), false);
        type Expected = fn(Option<String>) -> Option<String>;
        let expressions: [(Node, Expected); 3] = [
            (Node::Coalesce(vec![column(), text(Some("none"))]), |value| value.or(Some("none".to_owned()))),
            (case(is_there(), text(Some("b")), Some(text(Some("a")))), |value| {
                Some(if value.is_some() { "b" } else { "a" }.to_owned())
            }),
            (case(is_there(), column(), None), |value| value),
        ];
        for (node, expected) in expressions {
            let mut program = Program::new(&Typed { node, logical_type: LogicalType::String, nullable: true }, about);
            let mut before: Option<Dictionary> = None;
            for batch in 0..20 {
                let codes: Vec<u32> = (0..ROWS).map(|row| (row * 7 + batch * 13) % VALUES).collect();
                let mut valid = BitmapBuffer::default();
                (0..ROWS).for_each(|row| valid.push(row % 100 != 99));
                let columns = [Column::codes(&codes, &dictionary).with_validity(valid.bitmap())];
                let batch = Batch { rows: ROWS as usize, columns: &columns };
                let found = program.run(Level::best(), &batch).unwrap_or_else(|_| panic!("a plain case"));
                let column = found.column();
                if let Some(now) = column.dictionary() {
                    let alike =
                        |before: &Dictionary| now.shares(before) || now.iter().zip(before.iter()).all(|(a, b)| a == b);
                    assert!(before.as_ref().is_none_or(alike), "other codes");
                    before = Some(now.clone());
                }
                let view = View::of(&column).unwrap_or_else(|_| panic!("a column as any"));
                for row in (0..ROWS).step_by(33) {
                    let value = (row % 100 != 99).then(|| format!("v{}", codes[row as usize]));
                    let found = view.get(row as usize).map(|value| match value {
                        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                        _ => unreachable!("strings"),
                    });
                    assert_eq!(found, expected(value));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn strings_of_a_column_and_constants_stay_codes(
            values in prop::collection::vec((prop::option::of("[a-c]{0,2}"), 0i64..4), 1..100),
            constants in prop::array::uniform2(prop::option::of("[a-d]{0,2}")),
            has_otherwise in any::<bool>(),
        ) {
            let rows = values.len();
            let mut names: Vec<&str> = values.iter().flat_map(|(value, _)| value.as_deref()).chain(["a"]).collect();
            names.sort_unstable();
            names.dedup();
            let dictionary: Dictionary = names.iter().rev().collect();
            let code = |value: &Option<String>| {
                let place = |value| names.iter().rev().position(|name| *name == value);
                value.as_deref().and_then(place).unwrap_or(0) as u32
            };
            let codes: Vec<u32> = values.iter().map(|(value, _)| code(value)).collect();
            let mut valid = BitmapBuffer::default();
            values.iter().for_each(|(value, _)| valid.push(value.is_some()));
            let bytes: String = values.iter().flat_map(|(value, _)| value.as_deref()).collect();
            let mut offsets = vec![0];
            let length = |value: &Option<String>| value.as_ref().map_or(0, String::len) as i32;
            values.iter().for_each(|(value, _)| offsets.push(offsets[offsets.len() - 1] + length(value)));
            let numbers: Vec<i64> = values.iter().map(|&(_, number)| number).collect();

            let is = |number: i128| {
                Typed::truth(Node::Condition(Predicate::Range { column: 1, low: number, high: number }), false)
            };
            let [first, second] = constants.each_ref().map(Option::as_deref);
            let node = Node::Case {
                branches: vec![
                    (is(0), text(first)),
                    (is(1), Typed::column(0, LogicalType::String, true)),
                    (is(2), text(second)),
                ],
                otherwise: has_otherwise.then(|| Box::new(Typed::column(0, LogicalType::String, true))),
            };
            let case = Typed { node, logical_type: LogicalType::String, nullable: true };
            let fields = [
                Field { name: "s".to_owned(), logical_type: LogicalType::String, nullable: true },
                Field { name: "x".to_owned(), logical_type: LogicalType::Int64, nullable: false },
            ];
            let expected: Vec<Option<&str>> = values.iter().map(|(value, number)| match number {
                0 => first,
                2 => second,
                1 => value.as_deref(),
                _ => value.as_deref().filter(|_| has_otherwise),
            }).collect();
            let complete = dictionary.clone().complete();
            let strings = [
                Column::codes(&codes, &complete),
                Column::codes(&codes, &dictionary),
                Column { data: Data::Bytes(ByteStrings::new(&offsets, bytes.as_bytes())), validity: None },
            ];
            for (column, is_complete) in strings.into_iter().zip([true, false, false]) {
                for level in Level::available() {
                    let columns = [
                        column.with_validity(valid.bitmap()),
                        Column { data: Data::Integers(Integers::I64(&numbers)), validity: None },
                    ];
                    let about = Columns { fields: &fields, projection: &[0, 1], allowance: Allowance::default() };
                    let found = Program::new(&case, about).run(level, &Batch { rows, columns: &columns });
                    let found = found.unwrap_or_else(|_| panic!("a plain case"));
                    let column = found.column();
                    prop_assert_eq!(column.dictionary().is_some_and(Dictionary::is_complete), is_complete);
                    let view = View::of(&column).unwrap_or_else(|_| panic!("a column as any"));
                    let found = (0..rows).map(|row| match view.get(row) {
                        Some(Value::Bytes(bytes)) => Some(std::str::from_utf8(bytes).expect("as it was")),
                        _ => None,
                    });
                    prop_assert_eq!(found.collect::<Vec<_>>(), expected.clone());
                }
            }
        }
    }
}
