//! Conditions and computed columns run once for every row of a table, so they run a batch at a time and do no work
//! twice: what looks at one string column only is computed once for each value of its dictionary, and what looks at
//! one column of few integers once for each of these.
//!
//! In: typed expressions and predicates, then batches. Out: columns (`Evaluated`, borrowed or computed) and selections.
//! An error in a row counts only if its value is used: a branch of a `case` causes no error in rows where another
//! branch is taken.
//!
//! Where to look:
//!
//! - an expression made ready for batches of one projection: patterns compiled, constants as values (`Program`):
//!   `mod.rs`
//! - predicates on columns (`Filter`), lists of alternatives: `filter.rs`, `alternatives.rs`
//! - conditions of three values, comparisons, exact arithmetic: `truth.rs`, `comparison.rs`, `exact.rs`
//! - `case` and `coalesce`: `choice.rs`
//! - once for each value of a dictionary, or for each of few integers: `memo.rs`, `table.rs`
//! - expressions over columns of an answer: `computed.rs`

mod alternatives;
mod choice;
mod comparison;
pub(crate) mod computed;
mod exact;
pub(crate) mod filter;
mod memo;
mod table;
mod truth;

use crate::evaluate::filter::Test;
use crate::functions::typed::{Node, Scalar, Typed, columns_of};
use crate::functions::{self, Bound, Kernel};
use crate::runtime::memory::Allowance;
use crate::values::error::EvalError;
use crate::values::selection::row_numbers;
use crate::values::view::{Rows, View, both_valid, gathered};
use brc_core::{Array, Batch, BitmapBuffer, Column, Data, Field, LogicalType};
use brc_kernels::cpu::Level;
use choice::{Choice, Shape};
use comparison::Comparison;
use exact::Exact;
use memo::Memo;
use table::Table;

/// An expression made ready.
pub(crate) struct Program {
    root: Step,
    inputs: Inputs,
}

/// The columns of a batch: their types, and which of the schema they are.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// All columns that there are.
    pub(crate) fields: &'a [Field],
    /// Those that are in a batch, in its order.
    pub(crate) projection: &'a [usize],
    pub(crate) allowance: Allowance,
}

/// The columns of a batch that an expression looks at, each with its type.
type Inputs = Vec<(usize, LogicalType)>;

enum Step {
    Column(usize),
    Constant(Option<Scalar>, LogicalType),
    Condition {
        holds: Box<Test>,
        fails: Box<Test>,
    },
    /// The same of a batch that has nothing but this column.
    Test {
        of: Box<Step>,
        holds: Box<Test>,
        fails: Box<Test>,
    },
    And(Vec<Step>),
    Or(Vec<Step>),
    Not(Box<Step>),
    IsNull(Box<Step>),
    Case {
        branches: Vec<(Step, Step)>,
        otherwise: Option<Box<Step>>,
        shape: Shape,
    },
    Coalesce {
        parts: Vec<Step>,
        shape: Shape,
    },
    Call {
        kernel: Kernel,
        arguments: Vec<Step>,
        allowance: Allowance,
    },
    /// A call without columns, which has one value for all rows.
    Same(Box<Step>, LogicalType),
    Comparison(Box<Comparison>),
    Exact(Box<Exact>),
    Memo(Box<Memo>),
    Table(Box<Table>),
}

/// The value of an expression for a batch: a column of the batch, or a computed one.
pub(crate) enum Evaluated<'a> {
    Column(Column<'a>),
    /// The values of a column, of which other rows are null.
    Masked {
        data: Data<'a>,
        validity: BitmapBuffer,
    },
    Array(Array),
}

impl Evaluated<'_> {
    pub(crate) fn column(&self) -> Column<'_> {
        match self {
            Self::Column(column) => *column,
            Self::Masked { data, validity } => Column { data: *data, validity: validity.bitmap() },
            Self::Array(array) => array.column(),
        }
    }

    /// The column with memory of its own.
    pub(crate) fn owned(self, logical_type: LogicalType, rows: usize) -> Result<Array, EvalError> {
        match self {
            Self::Array(array) => Ok(array),
            Self::Column(_) | Self::Masked { .. } => {
                gathered(logical_type, &self.column(), &(0..rows as u32).collect::<Vec<_>>())
            }
        }
    }
}

/// Rows of a batch, and how they are read.
#[derive(Clone, Copy)]
struct Frame<'a, 'i> {
    level: Level,
    batch: Batch<'a>,
    inputs: &'i Inputs,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("inputs", &self.inputs).finish_non_exhaustive()
    }
}

impl Program {
    /// Makes an expression ready for batches of these columns, all of which are there.
    pub(crate) fn new(typed: &Typed, columns: Columns<'_>) -> Self {
        let input = |column: usize| (columns.position(column), columns.fields[column].logical_type);
        let inputs = columns_of([typed]).into_iter().map(input).collect();
        Self { root: Step::new(typed, columns, true), inputs }
    }

    /// The positions of the columns that it looks at.
    pub(crate) fn positions(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().map(|&(position, _)| position)
    }

    /// Its values in the rows of a batch.
    pub(crate) fn run<'a>(&mut self, level: Level, batch: &Batch<'a>) -> Result<Evaluated<'a>, EvalError> {
        self.root.run(&Frame { level, batch: *batch, inputs: &self.inputs })
    }

    /// Its values in those rows whose bits are set; others have any.
    pub(crate) fn run_where<'a>(
        &mut self,
        level: Level,
        batch: &Batch<'a>,
        wanted: &[u64],
        output: LogicalType,
    ) -> Result<Evaluated<'a>, EvalError> {
        self.root.run_where(&Frame { level, batch: *batch, inputs: &self.inputs }, wanted, output)
    }
}

/// The value of an expression without columns, unless it takes more memory than any limit leaves.
pub(crate) fn constant(typed: &Typed) -> Result<Option<Scalar>, EvalError> {
    let columns = Columns { fields: &[], projection: &[], allowance: Allowance(0) };
    let found = Program::new(typed, columns).run(Level::best(), &Batch { rows: 1, columns: &[] })?;
    let column = found.column();
    let view = View::of(&column)?;
    Ok(view.get(0).map(Scalar::from))
}

impl Columns<'_> {
    fn position(&self, column: usize) -> usize {
        let position = self.projection.iter().position(|&projected| projected == column);
        position.unwrap_or_else(|| unreachable!("a plan projects the columns that it computes with"))
    }
}

impl Step {
    /// `by_value` unless it is computed once for each value already.
    fn new(typed: &Typed, columns: Columns<'_>, by_value: bool) -> Self {
        if by_value && let Some(memo) = Memo::new(typed, columns) {
            return Self::Memo(Box::new(memo));
        }
        if by_value && let Some(table) = Table::new(typed, columns) {
            return Self::Table(Box::new(table));
        }
        let step = |typed: &Typed| Self::new(typed, columns, by_value);
        let steps = |parts: &[Typed]| parts.iter().map(step).collect::<Vec<_>>();
        let (output, allowance) = (typed.logical_type, columns.allowance);
        match &typed.node {
            Node::Column(column) => Self::Column(columns.position(*column)),
            Node::Literal(value) => Self::Constant(value.clone(), output),
            Node::Condition(predicate) => {
                let test = |negated| Box::new(Test::new(predicate, negated, columns.fields, columns.projection));
                Self::Condition { holds: test(false), fails: test(true) }
            }
            Node::Test { of, test } => {
                let fields = [of.field()];
                let test = |negated| Box::new(Test::new(test, negated, &fields, &[0]));
                Self::Test { of: Box::new(step(of)), holds: test(false), fails: test(true) }
            }
            Node::And(parts) => Self::And(steps(parts)),
            Node::Or(parts) => Self::Or(steps(parts)),
            Node::Not(part) => Self::Not(Box::new(step(part))),
            Node::IsNull(part) => Self::IsNull(Box::new(step(part))),
            Node::Case { branches, otherwise } => Self::Case {
                branches: branches.iter().map(|(when, then)| (step(when), step(then))).collect(),
                otherwise: otherwise.as_deref().map(|otherwise| Box::new(step(otherwise))),
                shape: {
                    let parts = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
                    Shape::new(output, parts, by_value, columns)
                },
            },
            Node::Coalesce(parts) => {
                Self::Coalesce { parts: steps(parts), shape: Shape::new(output, parts.iter(), by_value, columns) }
            }
            Node::Cast { inner, attempt } => match functions::cast::bound(inner.logical_type, output, *attempt) {
                Some(bound) => Self::Call { kernel: bound.kernel, arguments: vec![step(inner)], allowance },
                None => Self::Constant(None, output),
            },
            Node::Call { function, arguments } => match (function.0.bind)(arguments) {
                Ok(Bound { kernel: otherwise, compared: Some(compared), .. }) => {
                    Self::Comparison(Box::new(Comparison { compared, sides: steps(arguments), otherwise }))
                }
                Ok(bound) => {
                    let is_exact = bound.exact.is_some();
                    let call = Self::Call { kernel: bound.kernel, arguments: steps(arguments), allowance };
                    match is_exact {
                        true => Exact::step(typed, step, call),
                        false if columns_of([typed]).is_empty() => Self::Same(Box::new(call), output),
                        false => call,
                    }
                }
                Err(_) => Self::Constant(None, output),
            },
        }
    }

    fn run<'a>(&mut self, frame: &Frame<'a, '_>) -> Result<Evaluated<'a>, EvalError> {
        let rows = frame.batch.rows;
        Ok(Evaluated::Array(match self {
            Self::Column(position) => {
                let column = frame.batch.columns.get(*position);
                return column.copied().map(Evaluated::Column).ok_or(EvalError::Batch("a column is not there"));
            }
            Self::Constant(value, output) => Array::repeat(*output, value.as_ref().map(Scalar::value), rows),
            Self::Condition { .. }
            | Self::Test { .. }
            | Self::And(_)
            | Self::Or(_)
            | Self::Not(_)
            | Self::IsNull(_)
            | Self::Comparison(_) => self.truth(frame)?.array(frame.level, rows)?,
            Self::Case { branches, otherwise, shape } => {
                return case(branches, otherwise.as_deref_mut(), shape, frame);
            }
            Self::Coalesce { parts, shape } => return coalesce(parts, shape, frame),
            Self::Call { kernel, arguments, allowance } => {
                let found = arguments.iter_mut().map(|argument| argument.run(frame)).collect::<Result<Vec<_>, _>>()?;
                applied(kernel, &found.iter().map(Evaluated::column).collect::<Vec<_>>(), rows, *allowance)?
            }
            Self::Same(step, output) => {
                let found = step.run(&Frame { batch: Batch { rows: rows.min(1), columns: &[] }, ..*frame })?;
                let column = found.column();
                let value = View::of(&column)?;
                Array::repeat(*output, if rows > 0 { value.get(0) } else { None }, rows)
            }
            Self::Exact(exact) => return exact.run(frame),
            Self::Memo(memo) => return memo.run(frame),
            Self::Table(table) => return table.run(frame),
        }))
    }

    /// Its values in those rows whose bits are set; others have any.
    fn run_where<'a>(
        &mut self,
        frame: &Frame<'a, '_>,
        wanted: &[u64],
        output: LogicalType,
    ) -> Result<Evaluated<'a>, EvalError> {
        match self.run(frame) {
            Err(EvalError::Value(_) | EvalError::TooLarge(_)) => {}
            found => return found,
        }
        let rows = row_numbers(wanted);
        let found = frame.with_rows(&rows, |frame| self.run(frame)?.owned(output, frame.batch.rows))?;
        let (column, mut next) = (found.column(), 0);
        let view = View::of(&column)?;
        let values = (0..frame.batch.rows).map(|row| {
            let is_wanted = rows.get(next).is_some_and(|&wanted| wanted as usize == row);
            next += usize::from(is_wanted);
            if is_wanted { view.get(next - 1) } else { None }
        });
        // Values borrow from the view.
        let values: Vec<_> = values.collect();
        Ok(Evaluated::Array(Array::of(output, values)?))
    }
}

impl Frame<'_, '_> {
    /// Whether a column that is read has nulls.
    fn has_nulls(&self) -> bool {
        let has_nulls = |&(position, _): &(usize, _)| self.batch.columns.get(position).is_some_and(Column::has_nulls);
        self.inputs.iter().any(has_nulls)
    }

    /// Does something with a frame of some of the rows.
    fn with_rows<T>(
        &self,
        rows: &[u32],
        with: impl FnOnce(&Frame<'_, '_>) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        let gathered = self.inputs.iter().map(|&(position, logical_type)| {
            let column = self.batch.columns.get(position).ok_or(EvalError::Batch("a column is not there"))?;
            Ok((position, gathered(logical_type, column, rows)?))
        });
        let gathered = gathered.collect::<Result<Vec<_>, EvalError>>()?;
        let mut columns: Vec<Column<'_>> = self.batch.columns.to_vec();
        for (position, array) in &gathered {
            columns[*position] = array.column();
        }
        with(&Frame { batch: Batch { rows: rows.len(), columns: &columns }, ..*self })
    }
}

/// The values of a function, given its arguments.
fn applied(kernel: &Kernel, columns: &[Column<'_>], rows: usize, allowance: Allowance) -> Result<Array, EvalError> {
    let mut validity = BitmapBuffer::default();
    validity.push_values(rows);
    for column in columns.iter().filter(|column| column.has_nulls()) {
        validity = both_valid(rows, validity.bitmap(), column.validity);
    }
    let views = columns.iter().map(View::of).collect::<Result<Vec<_>, _>>()?;
    let computed = kernel(&views, &Rows::new(rows, validity.bitmap(), allowance))?;
    let validity = both_valid(rows, validity.bitmap(), computed.validity.bitmap());
    Ok(Array { data: computed.data, validity })
}

fn case<'a>(
    branches: &mut [(Step, Step)],
    otherwise: Option<&mut Step>,
    shape: &mut Shape,
    frame: &Frame<'a, '_>,
) -> Result<Evaluated<'a>, EvalError> {
    let mut choice = Choice::new(frame.batch.rows);
    for (when, then) in branches {
        let holds = when.holds_where(frame, &choice.left)?;
        choice.take(holds, |taken| then.part(frame, taken, shape.output))?;
    }
    if let Some(otherwise) = otherwise {
        choice.take(choice.left.clone(), |taken| otherwise.part(frame, taken, shape.output))?;
    }
    choice.values(frame, shape)
}

fn coalesce<'a>(parts: &mut [Step], shape: &mut Shape, frame: &Frame<'a, '_>) -> Result<Evaluated<'a>, EvalError> {
    let mut choice = Choice::new(frame.batch.rows);
    for part in parts {
        let found = part.part(frame, &choice.left, shape.output)?;
        choice.take(found.valid(frame.batch.rows), |_| Ok(found))?;
    }
    choice.values(frame, shape)
}
