//! How the values of a table differ from the text they were read from, and why a column is text.

use crate::decimal;
use crate::identifier;
use crate::logical_type::LogicalType;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;
use std::path::PathBuf;

/// Why a column has type string although its values look like another type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextReason {
    /// Most values have one type and some do not.
    Others {
        /// The first value that does not.
        value: Vec<u8>,
        /// The number of such values.
        others: u64,
        /// The number of values, without nulls.
        values: u64,
        /// Where `value` is.
        place: TextPlace,
        /// The file, if the table consists of several.
        file: Option<PathBuf>,
        /// The type of the remaining values.
        expected: LogicalType,
        /// Whether the remaining values are written as in SQL, so that `try_cast` reads them.
        is_usual: bool,
        /// Whether `--type` sets the type of the column, and `--rejects` the rows of the other values aside.
        may_reject: bool,
    },
    /// The values are numbers, or dates and times, written in several forms.
    SeveralForms {
        /// The first value.
        first: Vec<u8>,
        /// The first value in a different form.
        other: Vec<u8>,
        /// The files of the two values, if the values of each file are written in one way.
        files: Option<[PathBuf; 2]>,
    },
    /// The values are numbers, or dates and times, that can be read in two ways.
    Undecided {
        /// The two ways of reading them.
        forms: [String; 2],
        /// The options that select them, in the same order.
        options: [String; 2],
    },
}

/// The place of a value in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPlace {
    /// A line of a text.
    Line(u64),
    /// A row of a sheet.
    Row(u64),
}

impl fmt::Display for TextPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {}", decimal::with_thousands(*line)),
            Self::Row(row) => write!(f, "row {}", decimal::with_thousands(*row)),
        }
    }
}

/// How the values of a column are written that all are numbers, or all dates or times, in one form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueForm {
    /// One of the values, which shows the form.
    pub example: Vec<u8>,
    /// The kind of the values and the form.
    pub form: String,
}

/// Of at least so many values, one may be a slip, and of more a part.
const LEAST_VALUES: u64 = 10;
const SLIPS_IN: u64 = 100;

impl TextReason {
    /// Whether so few values of a column are unlike the others that they are probably slips: one of ten, or 1 %.
    #[must_use]
    pub fn are_slips(others: u64, values: u64) -> bool {
        values >= LEAST_VALUES && others <= 1.max(values / SLIPS_IN)
    }

    /// Whether it is about slips rather than about codes.
    #[must_use]
    pub fn is_slip(&self) -> bool {
        match self {
            Self::Others { others, values, .. } => Self::are_slips(*others, *values) && !self.is_code(),
            Self::SeveralForms { .. } => true,
            Self::Undecided { .. } => false,
        }
    }

    /// Whether the values are codes, of which some begin with a zero: they are meant as text.
    #[must_use]
    pub fn is_code(&self) -> bool {
        let is_code = |value: &[u8]| value.starts_with(b"0") && value.iter().all(u8::is_ascii_digit);
        matches!(self, Self::Others { value, .. } if is_code(value))
    }

    /// The reason and its remedy for a column of that name, as a sentence for users.
    #[must_use]
    pub fn of(&self, name: &str) -> String {
        let (column, named) = (identifier::in_sql(name), identifier::in_option(name));
        match self {
            Self::Others { value, others, values, place, file, expected, is_usual, may_reject } => {
                let value = String::from_utf8_lossy(value);
                let [others, values] = [others, values].map(|number| decimal::with_thousands(*number));
                let file = file.as_ref().map(|file| format!(" of {}", file.display())).unwrap_or_default();
                let cast = is_usual.then(|| format!("try_cast({column} as {expected})"));
                let convert = may_reject.then(|| format!("brc convert --type '{named}={expected}' --rejects FILE"));
                let remedies = cast.into_iter().chain(convert).collect::<Vec<_>>().join(", or ");
                format!(
                    "'{name}' is text because of '{value}' ({others} of {values} values, {place}{file}); use {remedies}"
                )
            }
            Self::SeveralForms { first, other, files } => {
                let [first, other] = [first, other].map(|value| String::from_utf8_lossy(value));
                let several = format!("'{name}' is text because its values are written in several ways");
                match files {
                    None => format!("{several}: '{first}', but also '{other}'"),
                    Some([file, file_of_other]) => {
                        let (file, file_of_other) = (file.display(), file_of_other.display());
                        format!("{several}: '{first}' in {file}, but '{other}' in {file_of_other}")
                    }
                }
            }
            Self::Undecided { forms: [one, other], options: [this, that] } => {
                format!("'{name}' is text because it may be written as {one} or as {other}; use {this} or {that}")
            }
        }
    }
}

/// A column of type string of which most of the first values look like another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoubtfulText {
    /// Its position.
    pub column: usize,
    /// The type of most values.
    pub expected: LogicalType,
    /// Whether the others are so few that they are probably slips.
    pub has_slips: bool,
    /// As in [`TextReason::Others`].
    pub may_reject: bool,
}

/// A column of which a request needs the null tokens as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedText {
    /// The name of the column.
    pub column: String,
    /// The null token that it needs; any if `None`.
    pub token: Option<Vec<u8>>,
}

/// How the values of a column differ from the text they were read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnChanges {
    /// The number of values that will be written differently: `1e5` as `100000.0`, but not `1.5` as `1.50`.
    pub altered: u64,
    /// The first of these: as read, and as it will be written.
    pub example: Option<(Vec<u8>, Vec<u8>)>,
    /// The number of values read as null because they are common null tokens, without an option that says so.
    pub nulled: u64,
    /// The null tokens found.
    pub null_tokens: BTreeSet<&'static str>,
    /// Whether the column has type string because a query compares these null tokens with its values
    /// ([`Table::read_nulls_as_text`](super::Table::read_nulls_as_text)).
    pub nulls_are_text: bool,
    /// Why the values are text, if they can be read in two ways.
    pub undecided: Option<TextReason>,
    /// The format of dates or times that the user sets for this column, if some value does not fit it, so that none is
    /// read in it.
    pub unfit_format: Option<String>,
    /// Whether its points are read as decimal points, but may separate thousands: semicolons separate the fields, or
    /// another column has decimal commas.
    pub doubtful_points: bool,
    /// Whether dates have years of two digits, in a form that was inferred.
    pub has_short_years: bool,
    /// The first string that is not UTF-8, if no option sets the charset.
    pub not_utf8: Option<Vec<u8>>,
    /// What separators in its numbers are read as, although no value in the first rows shows that they are.
    pub assumed_separator: Option<AssumedSeparator>,
}

/// A reading of a separator in numbers that may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssumedSeparator {
    /// `1.234` is read as 1234.
    PointOfThousands,
    /// `101,102` is read as 101102.
    CommaOfThousands,
    /// `28,12` is read as 28.12.
    DecimalComma,
    /// `28,12` is read as text, because another column has decimal points, or others of its values are unlike decimals.
    CommaOfList,
}

impl AddAssign<&ColumnChanges> for ColumnChanges {
    fn add_assign(&mut self, other: &Self) {
        self.altered += other.altered;
        self.example = self.example.take().or_else(|| other.example.clone());
        self.nulled += other.nulled;
        self.null_tokens.extend(&other.null_tokens);
        self.nulls_are_text |= other.nulls_are_text;
        self.undecided = self.undecided.take().or_else(|| other.undecided.clone());
        self.doubtful_points |= other.doubtful_points;
        self.has_short_years |= other.has_short_years;
        self.assumed_separator = self.assumed_separator.or(other.assumed_separator);
        self.not_utf8 = self.not_utf8.take().or_else(|| other.not_utf8.clone());
        self.unfit_format = self.unfit_format.take().or_else(|| other.unfit_format.clone());
    }
}
