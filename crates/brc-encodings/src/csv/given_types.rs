//! Finds how the values of columns of given types are written.
//!
//! A type says what values mean, but not how they are written: `1.250` may be a decimal or a thousand, `01/02/2025` a
//! day of January or of February. The values of a sample decide; if they do not, those of the column in the other files
//! of the table do, and then the decimal separator of other columns.

use super::each_value::EachValue;
use super::inference::Inference;
use brc_core::{LogicalType, identifier};
use brc_text::infer::Seen;
use brc_text::rows::Piece;
use brc_text::typed::{ColumnType, TableParser, TextFormat, parse_field};
use brc_text::{Form, GivenForms};

/// What is known of a column without a given form.
struct OpenColumn {
    index: usize,
    logical_type: LogicalType,
    /// The demands of the values in the sample.
    seen: Seen,
    /// The likely form, if it parses all values so far.
    likely: Option<Form>,
}

impl OpenColumn {
    fn add(&mut self, value: &[u8]) {
        let seen = Seen::of_field(value, true, &GivenForms::default());
        // Bad values and null tokens are written in no form.
        if seen.is_text() || !seen.null_tokens(self.logical_type).is_empty() {
            return;
        }
        self.seen = self.seen.join(seen);
        self.likely = self.likely.filter(|form| parse_field(value, Some(*form), self.logical_type).is_ok());
    }

    /// The form, and a note if only another column tells what its points are. Where they may be decimal marks, floats
    /// and decimals of this scale have them: thousands are whole numbers.
    fn form(&self, name: &str, inference: &Inference) -> (Option<Form>, Option<String>) {
        let given =
            GivenForms { are_times: matches!(self.logical_type, LogicalType::Time { .. }), ..GivenForms::default() };
        let own = self.seen.form(&given);
        let is_decided = own.is_some() || self.seen.decimal(&GivenForms::default()).is_some();
        let joined = inference.learn_given(name, self.seen);
        let shared = GivenForms { likely_decimal: inference.likely_decimal(), ..given };
        if let Some(likely) = self.likely {
            return (Some(likely), None);
        }
        let found = if is_decided { own } else { joined.form(&shared) };
        let found = found.filter(|form| form.goes_with(self.logical_type));
        // Otherwise values of this column, such as those with commas, tell what the points are.
        let is_usual = || joined.logical_type(false).is_some_and(LogicalType::is_numeric);
        let is_assumed = found.is_some() && !is_decided && joined.form(&given).is_none() && is_usual();
        match (self.logical_type.is_float(), self.logical_type.scale()) {
            (true, _) if is_assumed => (None, Some(doubtful_points(name))),
            (false, 3) if is_assumed => (None, None),
            (false, 1..) if is_assumed => (found, Some(assumed_thousands(name))),
            _ => (found, None),
        }
    }
}

/// The note about points that are read as decimal marks although another column has decimal commas.
fn doubtful_points(name: &str) -> String {
    let column = identifier::in_option(name);
    format!(
        "'{name}' is read with decimal points, because of its type; if they separate thousands, so that 1.234 is 1234, \
         --type '{column}=int64' reads them so"
    )
}

/// The note about points that are read as thousands separators because another column has decimal commas.
fn assumed_thousands(name: &str) -> String {
    let column = identifier::in_option(name);
    format!(
        "'{name}' is read with points between thousands (1.234 as 1234), because of decimal commas; if they are decimal \
         points, --type '{column}=decimal(3)' reads them so"
    )
}

/// Sets the forms of columns with a given type but no given form, from the values of a sample. `likely` forms, by name
/// of the column, take precedence if they parse all of these values. Returns notes about forms that are doubtful.
pub(super) fn find_forms(
    sample: Piece<'_>,
    format: &TextFormat,
    names: &[String],
    columns: &mut [ColumnType],
    likely: &[(String, Form)],
    inference: &Inference,
) -> Vec<String> {
    let likely = |index: usize| likely.iter().find(|(name, _)| *name == names[index]).map(|(_, form)| *form);
    let open = |(index, column): (usize, &ColumnType)| match column {
        ColumnType::Fixed { logical_type, form: None, .. } if has_forms(*logical_type) => {
            let likely = likely(index).filter(|form| form.goes_with(*logical_type));
            Some(OpenColumn { index, logical_type: *logical_type, seen: Seen::NOTHING, likely })
        }
        ColumnType::Fixed { .. } | ColumnType::Inferred { .. } => None,
    };
    let mut open: Vec<OpenColumn> = columns.iter().enumerate().filter_map(open).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let string = ColumnType::Fixed { logical_type: LogicalType::String, nullable: true, form: None };
    let projection: Vec<usize> = open.iter().map(|column| column.index).collect();
    let mut parser = TableParser::new(format.clone(), &vec![string; columns.len()], &projection);
    let Ok(_) = parser.parse(sample, &mut EachValue::of_all(|position: usize, value: &[u8]| open[position].add(value)));
    open.iter()
        .filter_map(|column| column.seen.decimal(&GivenForms::default()))
        .for_each(|decimal| inference.learn_decimal(decimal));
    let mut notes = Vec::new();
    for column in open {
        if let ColumnType::Fixed { form, .. } = &mut columns[column.index] {
            let (found, note) = column.form(&names[column.index], inference);
            *form = found;
            notes.extend(note);
        }
    }
    notes
}

fn has_forms(logical_type: LogicalType) -> bool {
    logical_type.is_numeric()
        || matches!(logical_type, LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. })
}
