//! Expressions of one string column, computed once for each value of its dictionary.

use super::{Columns, Evaluated, Frame, Inputs, Step};
use crate::functions::typed::{Node, Typed, columns_of};
use crate::keys::index::NameIndex;
use crate::values::error::EvalError;
use crate::values::view::View;
use brc_core::batch::codes_of;
use brc_core::{Array, ArrayData, Batch, BitmapBuffer, Column, Data, Dictionary, LogicalType, PhysicalType, Value};
use brc_kernels::cpu::Level;
use brc_kernels::direct::look_up;
use brc_kernels::filter::{CodeSet, bytes, words};

/// The most values of a dictionary that are computed; larger ones probably have values that no wanted row has.
const MAX_VALUES: usize = 1 << 20;

/// A dictionary of no more values is computed whatever the number of rows.
const MAX_VALUES_OF_ANY_BATCH: usize = 1 << 16;

/// Looking up a computed string among the others costs as much as computing it for this many rows.
const LOOK_UP: u64 = 8;

/// How many values are computed at a time.
const AT_A_TIME: usize = 4096;

pub(super) struct Memo {
    /// Where the column is in a batch.
    position: usize,
    inputs: Inputs,
    /// Computes the expression for a batch that has no other column.
    of_dictionary: Step,
    of_rows: Step,
    output: LogicalType,
    found: Found,
    /// How many codes have results.
    known: usize,
    /// How many rows there were.
    rows: u64,
    /// The result for null.
    of_null: Option<u32>,
    /// A value of the dictionary causes an error. No wanted row need have it, so rows are computed instead.
    off: bool,
}

/// The distinct results, and which one each code has; `None` is null.
struct Found {
    of_codes: Vec<Option<u32>>,
    /// All results that are numbers, one for each code that has one.
    values: Vec<Number>,
    /// The result of each code, as long as all are integers of up to 64 bits.
    narrow: Option<Vec<i64>>,
    /// The result of each code, as long as all are strings.
    texts: Option<Vec<u32>>,
    /// The codes whose result is true, if it is a truth.
    truths: CodeSet,
    /// All results that are strings, each once.
    strings: Dictionary,
    index: NameIndex,
}

#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    Float(f64),
}

impl Memo {
    /// A memo, if the expression is computed from a single string column and is worth it.
    pub(super) fn new(typed: &Typed, columns: Columns<'_>) -> Option<Self> {
        let [column] = columns_of([typed])[..] else { return None };
        let logical_type = columns.fields.get(column)?.logical_type;
        // A choice of constant strings has codes of its own.
        let is_plain =
            matches!(typed.node, Node::Column(_) | Node::Literal(_) | Node::Condition(_)) || is_choice_of_texts(typed);
        if is_plain || logical_type.physical() != PhysicalType::Bytes {
            return None;
        }
        Some(Self {
            position: columns.position(column),
            inputs: vec![(0, logical_type)],
            of_dictionary: Step::new(typed, Columns { projection: &[column], ..columns }, false),
            of_rows: Step::new(typed, columns, false),
            output: typed.logical_type,
            found: Found {
                of_codes: Vec::new(),
                values: Vec::new(),
                narrow: Some(Vec::new()),
                texts: Some(Vec::new()),
                truths: CodeSet::default(),
                strings: Dictionary::new(),
                index: NameIndex::default(),
            },
            known: 0,
            rows: 0,
            of_null: None,
            off: false,
        })
    }

    pub(super) fn run<'a>(&mut self, frame: &Frame<'a, '_>) -> Result<Evaluated<'a>, EvalError> {
        let column = frame.batch.columns.get(self.position).ok_or(EvalError::Batch("a column is not there"))?;
        self.rows += frame.batch.rows as u64;
        match column.dictionary() {
            Some(dictionary) if !self.off && self.pays(dictionary.len()) => {
                match self.learn(frame, dictionary) {
                    Err(EvalError::Value(_) | EvalError::TooLarge(_)) => self.off = true,
                    learnt => {
                        learnt?;
                        return self.of_column(frame.level, column).map(Evaluated::Array);
                    }
                }
                self.of_rows.run(frame)
            }
            _ => self.of_rows.run(frame),
        }
    }

    /// Whether to compute of a dictionary of this many values, rather than of rows.
    fn pays(&self, values: usize) -> bool {
        let is_string = self.output.physical() == PhysicalType::Bytes;
        values <= MAX_VALUES
            && (!is_string || values <= MAX_VALUES_OF_ANY_BATCH || values as u64 * LOOK_UP <= self.rows)
    }

    /// Computes the results of values that were added to the dictionary; the first time also that of null.
    fn learn(&mut self, frame: &Frame<'_, '_>, dictionary: &Dictionary) -> Result<(), EvalError> {
        if self.known == 0 {
            self.compute(frame, std::iter::once(None))?;
            self.of_null = self.found.of_codes.pop().flatten();
            (self.found.narrow, self.found.texts) = (Some(Vec::new()), Some(Vec::new()));
            self.found.truths = CodeSet::default();
        }
        while self.known < dictionary.len() {
            let end = dictionary.len().min(self.known + AT_A_TIME);
            let values = (self.known..end).map(|code| Some(Value::Bytes(dictionary.get(code as u32))));
            self.compute(frame, values)?;
            self.known = end;
        }
        Ok(())
    }

    fn compute<'a>(
        &mut self,
        frame: &Frame<'_, '_>,
        values: impl Iterator<Item = Option<Value<'a>>>,
    ) -> Result<(), EvalError> {
        let values = Array::of(LogicalType::String, values)?;
        let column = values.column();
        let rows = match column.data {
            Data::Bytes(strings) => strings.len(),
            _ => 0,
        };
        let batch = Batch { rows, columns: std::slice::from_ref(&column) };
        let found = self.of_dictionary.run(&Frame { level: frame.level, batch, inputs: &self.inputs })?;
        let column = found.column();
        let view = View::of(&column)?;
        (0..rows).for_each(|row| self.found.push(view.get(row)));
        Ok(())
    }

    fn of_column(&self, level: Level, column: &Column<'_>) -> Result<Array, EvalError> {
        if let (Data::Codes { codes, .. }, false) = (column.data, column.has_nulls())
            && let Some(values) = self.found.narrow.as_deref()
            && self.output.fits_64_bits()
        {
            if self.output == LogicalType::Bool {
                let mut mask = vec![0; words(codes.len())];
                return match self.found.truths.select(level, codes, &mut mask) {
                    true => Ok(bytes(level, &mask, codes.len()).into()),
                    false => Err(EvalError::Batch("a code is not in its dictionary")),
                };
            }
            // Checked beforehand, so that rows are looked up without an early end.
            let largest = codes.iter().fold(0, |largest, &code| largest.max(code)) as usize;
            if largest >= values.len() && !codes.is_empty() {
                return Err(EvalError::Batch("a code is not in its dictionary"));
            }
            return Ok(codes.iter().map(|&code| values[code as usize]).collect::<Vec<_>>().into());
        }
        if let (Data::Codes { codes, .. }, false) = (column.data, column.has_nulls())
            && let Some(table) = self.found.texts.as_deref()
            && self.output.physical() == PhysicalType::Bytes
        {
            let mut results = Vec::new();
            // No text has this code, so it marks a missing one.
            return match look_up(level, codes, table, &mut results) {
                true => Err(EvalError::Batch("a code is not in its dictionary")),
                false => Ok(self.found.codes(results)),
            };
        }
        let mut codes = Vec::new();
        codes_of(column, &mut codes);
        let mut malformed = false;
        let mut results = Vec::with_capacity(codes.len());
        for (row, &code) in codes.iter().enumerate() {
            results.push(match self.found.of_codes.get(code as usize) {
                _ if !column.is_valid(row) => self.of_null,
                Some(result) => *result,
                None => {
                    malformed = true;
                    None
                }
            });
        }
        if malformed {
            return Err(EvalError::Batch("a code is not in its dictionary"));
        }
        self.found.array(self.output, &results)
    }
}

/// Whether it is a `case` of constant strings.
fn is_choice_of_texts(typed: &Typed) -> bool {
    let Node::Case { branches, otherwise } = &typed.node else { return false };
    let mut parts = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
    typed.logical_type.physical() == PhysicalType::Bytes && parts.all(|part| matches!(part.node, Node::Literal(_)))
}

impl Found {
    fn push(&mut self, value: Option<Value<'_>>) {
        let narrow = match value {
            Some(Value::Integer(value)) => i64::try_from(value).ok(),
            Some(Value::Float(_) | Value::Bytes(_)) | None => None,
        };
        self.truths.push(narrow == Some(1));
        self.narrow = self.narrow.take().zip(narrow).map(|(mut all, value)| {
            all.push(value);
            all
        });
        let number = match value {
            None => None,
            Some(Value::Bytes(bytes)) => Some(self.index.code(bytes, &mut self.strings)),
            Some(Value::Integer(value)) => Some(self.number(Number::Integer(value))),
            Some(Value::Float(value)) => Some(self.number(Number::Float(value))),
        };
        let text = number.filter(|_| matches!(value, Some(Value::Bytes(_))));
        self.texts = self.texts.take().zip(text).map(|(mut all, text)| {
            all.push(text);
            all
        });
        self.of_codes.push(number);
    }

    /// The strings of these codes.
    fn codes(&self, codes: Vec<u32>) -> Array {
        ArrayData::Codes { codes, dictionary: self.strings.clone() }.into()
    }

    fn number(&mut self, number: Number) -> u32 {
        self.values.push(number);
        self.values.len() as u32 - 1
    }

    /// The results of rows.
    fn array(&self, output: LogicalType, results: &[Option<u32>]) -> Result<Array, EvalError> {
        if output.physical() == PhysicalType::Bytes {
            let mut validity = BitmapBuffer::default();
            results.iter().for_each(|result| validity.push(result.is_some()));
            let codes = results.iter().map(|result| result.unwrap_or(0)).collect();
            return Ok(Array { validity, ..self.codes(codes) });
        }
        let value = |result: &Option<u32>| {
            result.map(|result| match self.values[result as usize] {
                Number::Integer(value) => Value::Integer(value),
                Number::Float(value) => Value::Float(value),
            })
        };
        Ok(Array::of(output, results.iter().map(value))?)
    }
}
