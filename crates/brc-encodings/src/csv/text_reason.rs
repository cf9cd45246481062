//! Explains why a column is text, for a query that needs numbers or dates.
//!
//! One value among thousands makes a column text. The error of a query for its mean names that value and its location.

use super::each_value::EachValue;
use super::source::Source;
use super::split_text::SplitText;
use crate::chunks::ReadCost;
use crate::tally::{CLASSES, START_ROWS, TEXT, class_of, most_of};
use brc_core::{
    AssumedSeparator, Column, DoubtfulText, LogicalType, Result, RowFault, TextPlace, TextReason, ValueForm, identifier,
};
use brc_text::form::{Form, GivenForms, NumberForm};
use brc_text::infer::{NullTokenSet, Seen};
use brc_text::rows::{Piece, Scanned};
use brc_text::typed::{BadRow, ColumnType, NullTokens, Output, TableParser, TextFormat};
use std::convert::Infallible;
use std::ops::Range;

/// A text to be read for some columns.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) range: &'a dyn Fn(u64) -> Range<u64>,
    pub(super) format: &'a TextFormat,
    /// The lines before the first row.
    pub(super) header_lines: u64,
    /// The number of columns.
    pub(super) columns: usize,
}

const STRING: ColumnType = ColumnType::Fixed { logical_type: LogicalType::String, nullable: true, form: None };

impl Reader<'_> {
    /// The first value whose type or form differs from that of most values of the column; `None` if most are text.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub(super) fn why_text(&self, column: usize, name: &str, given: GivenForms) -> Result<Option<TextReason>> {
        let mut tally = Tally::new(given);
        let mut values = EachValue::of_all(|_, value: &[u8]| tally.add(value));
        self.read(&[column], STRING, self.format.clone(), &mut values, |_, _| true)?;
        let Some(most) = tally.most() else { return Ok(None) };
        let class = &tally.classes[most];
        let all_may_be_lists = class.seen.assumed_separator(&given, false) == Some(AssumedSeparator::CommaOfList);
        if all_may_be_lists && class.values == tally.values {
            let column = identifier::in_option(name);
            return Ok(Some(TextReason::Undecided {
                forms: [NumberForm::COMMA.to_string(), "lists of numbers".to_owned()],
                options: ["decimal(2)", "string"].map(|of| format!("--type '{column}={of}'")),
            }));
        }
        if let (Some((_, first)), Some(other)) = (&class.first, &class.other_form) {
            return Ok(Some(TextReason::SeveralForms { first: first.clone(), other: other.clone(), files: None }));
        }
        if let Some(forms) = class.seen.ambiguity(&given) {
            return Ok(Some(undecided(name, forms)));
        }
        let (expected, form) = (class.logical_type(&given), class.seen.form(&given));
        let Some(value) = tally.first_besides(most) else { return Ok(None) };
        let others = ColumnType::Fixed { logical_type: expected, nullable: true, form };
        let nulls = NullTokens::new([""].into_iter().chain(tally.nulls.iter()));
        let format = TextFormat { nulls, ..self.format.clone() };
        let mut first = FirstBad { column, wanted: None, lines: self.header_lines, line: None };
        self.read(&[column], others, format, &mut first, FirstBad::goes_on)?;
        if first.line.is_none() {
            // It would be a value of the type, but for its leading zeros or as another word for true. It is no UUID.
            let uuids = ColumnType::Fixed { logical_type: LogicalType::Uuid, nullable: true, form: None };
            (first.wanted, first.lines) = (Some(RowFault::quote(&value)), self.header_lines);
            self.read(&[column], uuids, self.format.clone(), &mut first, FirstBad::goes_on)?;
        }
        let (values, others, is_usual) = (tally.values, tally.values - class.values, form.is_none());
        let place = first.line.map(TextPlace::Line);
        let of = |place| TextReason::Others {
            value,
            others,
            values,
            place,
            file: None,
            expected,
            is_usual,
            may_reject: true,
        };
        Ok(place.map(of))
    }

    /// How the values of the column are written, if none of them differs from the others in type or form.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub(super) fn value_form(&self, column: usize, given: GivenForms) -> Result<Option<ValueForm>> {
        let mut tally = Tally::new(given);
        let mut example = None;
        let mut values = EachValue::of_all(|_, value: &[u8]| {
            tally.add(value);
            // Integers are written alike in all forms.
            if example.is_none() && !value.iter().all(u8::is_ascii_digit) {
                example = Some(value.to_vec());
            }
        });
        self.read(&[column], STRING, self.format.clone(), &mut values, |_, _| true)?;
        let Some(most) = tally.most().filter(|&most| tally.classes[most].values == tally.values) else {
            return Ok(None);
        };
        let class = &tally.classes[most];
        if class.other_form.is_some() || class.seen.ambiguity(&given).is_some() {
            return Ok(None);
        }
        let form = class.seen.form(&given).map(|form| form.to_string()).unwrap_or_default();
        Ok(example.map(|example| ValueForm { example, form: format!("{most} {form}") }))
    }

    /// Those of the columns of which most values of the first rows are of another type than text.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub(super) fn doubtful_text(&self, strings: &[(usize, GivenForms)]) -> Result<Vec<DoubtfulText>> {
        let columns: Vec<usize> = strings.iter().map(|(column, _)| *column).collect();
        let mut tallies: Vec<Tally> = strings.iter().map(|(_, given)| Tally::new(*given)).collect();
        let mut values = EachValue::of_first(START_ROWS, |index: usize, value: &[u8]| tallies[index].add(value));
        let (mut buffer, mut cost) = (SplitText::default(), ReadCost::default());
        if let Some(location) = self.source.load(0, self.range, &mut buffer, &mut cost)?.filter(|it| !it.is_empty) {
            let text = buffer.as_slice();
            let piece = Piece {
                text: &text[..text.len().min(START_BYTES)],
                skip: location.skip,
                last: location.last && text.len() <= START_BYTES,
            };
            let (types, mut parser) = self.parser(&columns, STRING, self.format.clone());
            parser.start(&types);
            let Ok(_) = parser.parse(piece, &mut values);
        }
        let of_columns = columns.into_iter().zip(&tallies);
        Ok(of_columns.filter_map(|(column, tally)| tally.doubtful(column)).collect())
    }

    /// A parser of these columns, and the types of all.
    fn parser(&self, wanted: &[usize], of_type: ColumnType, format: TextFormat) -> (Vec<ColumnType>, TableParser) {
        let text = ColumnType::Inferred { seen: Seen::TEXT, exact: false, given: GivenForms::default() };
        let mut columns = vec![text; self.columns];
        wanted.iter().for_each(|&column| columns[column] = of_type);
        let parser = TableParser::new(format, &columns, wanted);
        (columns, parser)
    }

    /// Reads the columns, split by split, while `go_on` returns true for the lines of each.
    fn read<O: Output<Error = Infallible>>(
        &self,
        wanted: &[usize],
        of_type: ColumnType,
        format: TextFormat,
        output: &mut O,
        mut go_on: impl FnMut(&mut O, u64) -> bool,
    ) -> Result<()> {
        let (columns, mut parser) = self.parser(wanted, of_type, format);
        let (mut buffer, mut cost) = (SplitText::default(), ReadCost::default());
        for index in 0.. {
            let Some(location) = self.source.load(index, self.range, &mut buffer, &mut cost)? else { break };
            let text = if location.is_empty { &[][..] } else { buffer.as_slice() };
            parser.start(&columns);
            let Ok(Scanned { lines, .. }) =
                parser.parse(Piece { text, skip: location.skip, last: location.last }, output);
            if !go_on(output, lines) || location.last {
                break;
            }
        }
        Ok(())
    }
}

/// The number of values per class.
struct Tally {
    given: GivenForms,
    classes: [Class; CLASSES],
    values: u64,
    nulls: NullTokenSet,
}

struct Class {
    values: u64,
    seen: Seen,
    /// The first value, and the number of values before it.
    first: Option<(u64, Vec<u8>)>,
    /// The first value after which no single form reads all of them.
    other_form: Option<Vec<u8>>,
}

impl Class {
    fn logical_type(&self, given: &GivenForms) -> LogicalType {
        self.seen.type_in(false, given).unwrap_or(LogicalType::String)
    }
}

impl Tally {
    fn new(given: GivenForms) -> Self {
        let class = |_| Class { values: 0, seen: Seen::NOTHING, first: None, other_form: None };
        Self { given, classes: std::array::from_fn(class), values: 0, nulls: NullTokenSet::EMPTY }
    }

    fn add(&mut self, value: &[u8]) {
        let seen = Seen::of_field(value, true, &self.given);
        let nulls = seen.null_tokens(LogicalType::Bool);
        if !nulls.is_empty() {
            self.nulls = self.nulls.union(nulls);
            return;
        }
        let class = match seen.ambiguity(&self.given) {
            Some([form, _]) => class_of(form.logical_type()),
            None => class_of(seen.type_in(false, &self.given).unwrap_or(LogicalType::String)),
        };
        let is_text = class == TEXT;
        let class = &mut self.classes[class];
        class.values += 1;
        class.seen = class.seen.join(seen);
        class.first.get_or_insert_with(|| (self.values, value.to_vec()));
        self.values += 1;
        if !is_text && class.other_form.is_none() {
            let is_one =
                class.seen.ambiguity(&self.given).is_some() || class.logical_type(&self.given) != LogicalType::String;
            class.other_form = (!is_one).then(|| value.to_vec());
        }
    }

    /// The class of at least half of the values, unless it is text.
    fn most(&self) -> Option<usize> {
        most_of(self.classes.each_ref().map(|class| class.values))
    }

    /// The type of most values of a column.
    fn doubtful(&self, column: usize) -> Option<DoubtfulText> {
        let class = &self.classes[self.most()?];
        let has_slips = TextReason::are_slips(self.values - class.values, self.values);
        Some(DoubtfulText { column, expected: class.logical_type(&self.given), has_slips, may_reject: true })
    }

    /// The first value of a different class.
    fn first_besides(&self, most: usize) -> Option<Vec<u8>> {
        let others = self.classes.iter().enumerate().filter(|(class, _)| *class != most);
        others.filter_map(|(_, class)| class.first.as_ref()).min().map(|(_, value)| value.clone())
    }
}

/// So many bytes of [`START_ROWS`] are looked at.
const START_BYTES: usize = 64 << 10;

/// Finds the line of the first row with an invalid value in a column.
struct FirstBad {
    column: usize,
    /// The value, as faults show it; any if `None`.
    wanted: Option<String>,
    /// The lines before the text.
    lines: u64,
    /// The line, from 1.
    line: Option<u64>,
}

impl FirstBad {
    /// Counts the lines of a split. Returns whether the row is still to be found.
    fn goes_on(&mut self, lines: u64) -> bool {
        self.lines += lines;
        self.line.is_none()
    }
}

impl Output for FirstBad {
    type Error = Infallible;

    fn batch(&mut self, _: usize, _: &[Column<'_>]) -> Result<(), Infallible> {
        Ok(())
    }

    fn keeps(&self, _: &RowFault) -> bool {
        true
    }

    fn keep(&mut self, bad: &BadRow<'_>) {
        let is_wanted = self
            .wanted
            .as_ref()
            .is_none_or(|wanted| matches!(&bad.fault, RowFault::MalformedValue { text, .. } if text == wanted));
        if bad.column == Some(self.column) && is_wanted {
            self.line.get_or_insert(self.lines + bad.lines_before + 1);
        }
    }

    fn refuse(&mut self, _: BadRow<'_>) -> Infallible {
        unreachable!("bad rows are kept")
    }
}

/// The reason why values are text that can be read in two forms.
pub(super) fn undecided(name: &str, forms: [Form; 2]) -> TextReason {
    let named = identifier::in_option(name);
    let option = |form: &Form| match form {
        Form::Number(form) if form.thousands() == "," => "--thousands ,".to_owned(),
        Form::Number(form) => format!("--decimal {}", char::from(form.decimal())),
        Form::Time(form) => {
            let option = if form.has_clock() { "--timestamp-format" } else { "--date-format" };
            format!("{option} '{named}={form}'")
        }
    };
    TextReason::Undecided { options: [option(&forms[0]), option(&forms[1])], forms: forms.map(|form| form.to_string()) }
}
