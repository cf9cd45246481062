//! Values in forms other than the usual one.
//!
//! A form applies only if it parses all values of a column and no other form does. `05/06/2024` alone may be a day in
//! May or in June, and stays text until a day after the 12th decides. What values require is therefore the set of forms
//! that parse them; the sets of several values are intersected.

mod values;

use super::time_forms::{FORMS, Forms};
use super::{
    ENDS_IN_ZERO, FLOAT, FORMED_NUMBER, FORMED_TIME, GROUPED, NUMBER, SHORT_GROUP, SHORT_LEAD, SPACED_DIGITS, Seen,
    UNGROUPED,
};
use crate::form::{Form, GivenForms, GivenNumber, NumberForm, Padding, TimeForm, ZoneOffset};
use brc_core::{AssumedSeparator, LogicalType, TimeUnit};

pub(super) use values::seen;

/// Bits of `starts` for the forms that the user sets.
const GIVEN_DATE: u64 = 1 << 63;
const GIVEN_TIMESTAMP: u64 = 1 << 62;
const GIVEN: u64 = GIVEN_DATE | GIVEN_TIMESTAMP;
/// Bit of `numbers` for the form that the user sets.
const GIVEN_NUMBER: u8 = 1 << 7;

/// The forms that parse all of a set of values, and what the values require of the type in these forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FormSet {
    starts: u64,
    clocks: u32,
    numbers: u8,
    padding: Padding,
    offset: ZoneOffset,
    /// The maximum number of digits before the decimals, and of decimals.
    whole: u8,
    scale: u8,
    /// The minimum number of decimals of those that have some.
    least_scale: u8,
}

impl FormSet {
    /// The set for no values.
    pub(super) const ALL: Self = Self {
        starts: u64::MAX,
        clocks: u32::MAX,
        numbers: u8::MAX,
        padding: Padding::NONE,
        offset: ZoneOffset::Unknown,
        whole: 0,
        scale: 0,
        least_scale: u8::MAX,
    };

    /// The set for the values of both.
    pub(super) fn join(self, other: Self) -> Self {
        Self {
            starts: self.starts & other.starts,
            clocks: self.clocks & other.clocks,
            numbers: self.numbers & other.numbers,
            padding: self.padding.union(other.padding),
            offset: self.offset.join(other.offset),
            whole: self.whole.max(other.whole),
            scale: self.scale.max(other.scale),
            least_scale: self.least_scale.min(other.least_scale),
        }
    }
}

/// How the values of a column are interpreted.
pub(super) enum Reading {
    /// Not by a form.
    Usual,
    /// As values of a type in a form.
    Formed(LogicalType, Form),
    /// As text, because these two forms parse all values with different results.
    Ambiguous([Form; 2]),
}

impl FormSet {
    /// The forms that may occur in a column with a number in the usual form that has a point and an exponent.
    pub(super) fn with_decimal_point() -> Self {
        let forms = (0..).zip(NumberForm::DETECTED).filter(|(_, form)| form.decimal() == b'.');
        Self { numbers: forms.fold(GIVEN_NUMBER, |numbers, (index, _): (u32, _)| numbers | 1 << index), ..Self::ALL }
    }
}

/// The number forms with their bits: first the one that the user sets, then the detected ones that are compatible with
/// it.
fn number_forms(given: Option<GivenNumber>) -> impl Iterator<Item = (u8, NumberForm)> {
    let own = given.map(|given| (GIVEN_NUMBER, given.form));
    let goes_with = move |form: &NumberForm| {
        given.is_none_or(|given| given.any_thousands && given.form.decimal() == form.decimal())
    };
    let detected = (0..).zip(NumberForm::DETECTED).filter(move |(_, form)| goes_with(form));
    own.into_iter().chain(detected.map(|(index, form)| (1u8 << index, form)))
}

impl Seen {
    /// Whether a form of dates or times that the user sets parses all values.
    #[must_use]
    pub fn fits_given(self, given: &GivenForms) -> bool {
        given.date.is_some() && self.forms.starts & GIVEN_DATE != 0
            || given.timestamp.is_some() && self.forms.starts & GIVEN_TIMESTAMP != 0
    }

    /// Reinterprets the requirements of a range of numbers as those of formed numbers.
    pub(crate) fn as_formed(self) -> Self {
        Self { flags: self.flags & !UNGROUPED, whole: 0, forms: FormSet { whole: self.whole, ..self.forms }, ..self }
    }

    /// How to interpret the values, if some are not in the usual form.
    pub(super) fn reading(self, given: &GivenForms) -> Reading {
        let kinds = self.flags & super::KINDS;
        if kinds == 0 || kinds & super::TEXT != 0 {
            return Reading::Usual;
        }
        for (bit, form) in [(GIVEN_DATE, given.date), (GIVEN_TIMESTAMP, given.timestamp)] {
            if let Some(form) = form.filter(|_| self.forms.starts & bit != 0) {
                return self.time(form);
            }
        }
        if self.may_be_durations() && !given.are_times {
            Reading::Usual
        } else if kinds & FORMED_TIME != 0 {
            self.times(kinds)
        } else if kinds & FORMED_NUMBER != 0 && kinds & !(FORMED_NUMBER | super::FLOAT_OR_NUMBER) == 0 {
            self.numbers(given)
        } else if kinds == NUMBER && given.likely_decimal == Some(b',') && self.may_have_groups() {
            self.number_in(NumberForm::COMMA_AND_POINT)
        } else if kinds == NUMBER && given.likely_decimal.is_none() && given.may_have_groups && self.are_like_groups() {
            Reading::Ambiguous([NumberForm::POINT, NumberForm::COMMA_AND_POINT].map(Form::Number))
        } else {
            Reading::Usual
        }
    }

    /// The values as times in a form, unless they overflow the unit.
    fn time(self, form: TimeForm) -> Reading {
        let unit = TimeUnit::ALL[usize::from(self.unit.min(3))];
        let form = form.written(self.forms.padding, self.forms.offset);
        match form.logical_type(unit) {
            LogicalType::Timestamp { .. } if self.unit + self.too_short > 3 => Reading::Usual,
            logical_type => Reading::Formed(logical_type, Form::Time(form)),
        }
    }

    /// Whether the points of numbers in the usual form may be thousands separators.
    #[must_use]
    pub fn may_have_groups(self) -> bool {
        self.flags & UNGROUPED == 0 && self.scale == 3 && self.whole <= 3
    }

    /// Whether points are probably thousands separators: `1.234` beside `987`, which would have been written as `987.000`.
    fn are_like_groups(self) -> bool {
        self.may_have_groups() && self.least_scale == 0
    }

    /// Whether commas are hardly decimal marks: with a fixed number of decimals, all have as many, and otherwise none
    /// ends in a zero, as in `8,1` beside `8,10`.
    fn are_like_lists(self) -> bool {
        self.flags & ENDS_IN_ZERO != 0 && self.forms.least_scale < self.most_decimals()
    }

    /// The maximum number of digits after a comma.
    fn most_decimals(self) -> u8 {
        self.forms.scale.max(if self.flags & SHORT_GROUP != 0 { 3 } else { 0 })
    }

    /// Whether commas may separate the values of lists, and nothing shows that they are decimal marks.
    fn may_have_lists(self, given: &GivenForms) -> bool {
        let has_commas = given.likely_decimal == Some(b',');
        let is_doubtful = given.no_decimal_commas || given.may_have_lists && !has_commas && self.are_like_lists();
        is_doubtful && self.forms.scale > 0 && given.number.is_none() && self.flags & GROUPED == 0
    }

    /// Whether all values have digits after a comma, some fewer than others, as pairs of numbers do.
    #[must_use]
    pub fn are_like_pairs(self) -> bool {
        self.flags & NUMBER == 0 && self.forms.least_scale > 0 && self.forms.least_scale < self.most_decimals()
    }

    /// What separators in numbers are read as, although no value shows that they are: points between thousands, if none
    /// has a comma as well or two points; commas between thousands, if all begin with three digits, as lists of numbers
    /// may; decimal commas, where lists are as likely; and the commas of lists, which may be decimal commas.
    #[must_use]
    pub fn assumed_separator(self, given: &GivenForms, lists_are_likely: bool) -> Option<AssumedSeparator> {
        let has = |flag| self.flags & flag != 0;
        let Reading::Formed(_, Form::Number(form)) = self.reading(given) else {
            let commas = GivenForms { no_decimal_commas: false, likely_decimal: Some(b','), ..*given };
            let is_formed = self.flags & FORMED_NUMBER != 0 && matches!(self.reading(&commas), Reading::Formed(..));
            let is_refused = is_formed && self.may_have_lists(given);
            return is_refused.then_some(AssumedSeparator::CommaOfList);
        };
        if given.number.is_some() {
            None
        } else if form.has_thousands_by(b'.') && has(NUMBER) && self.scale > 0 && !has(GROUPED) {
            Some(AssumedSeparator::PointOfThousands)
        } else if form.has_thousands_by(b',') && !has(SHORT_LEAD | GROUPED) {
            Some(AssumedSeparator::CommaOfThousands)
        } else if form.decimal() == b',' && self.forms.scale > 0 && lists_are_likely && !has(GROUPED) {
            Some(AssumedSeparator::DecimalComma)
        } else {
            None
        }
    }

    /// The decimal separator, if it is unambiguous.
    #[must_use]
    pub fn decimal(self, given: &GivenForms) -> Option<u8> {
        match self.reading(&GivenForms { may_have_lists: given.may_have_lists, ..GivenForms::default() }) {
            Reading::Formed(_, Form::Number(form)) => Some(form.decimal()),
            Reading::Usual if self.flags & super::KINDS == NUMBER && self.scale > 0 && !self.may_have_groups() => {
                Some(b'.')
            }
            _ => None,
        }
    }

    fn times(self, kinds: u32) -> Reading {
        let Forms { starts, clocks, day_first, month_first, .. } = &*FORMS;
        let mut set = self.forms.starts & !GIVEN;
        // Dates and times in the usual form may occur among those in a form that starts like it.
        let usual = kinds & !FORMED_TIME;
        if usual != 0 {
            let (is_date, is_clock) = (usual & !super::DATE_OR_TIMESTAMP == 0, usual == super::TIME);
            let goes_with =
                |start: &TimeForm| is_date && start.begins_with_iso_date() || is_clock && start.begins_with_clock();
            set &=
                (0..).zip(starts).filter(|(_, start)| goes_with(start)).fold(0, |set, (index, _)| set | 1u64 << index);
        }
        let clock = clocks.get(self.forms.clocks.trailing_zeros() as usize);
        let form = |starts_left: u64| {
            let start = starts.get(starts_left.trailing_zeros() as usize)?;
            Some(start.followed_by(clock?))
        };
        let Some(first) = form(set) else { return Reading::Usual };
        match [set & day_first, set & month_first].map(form) {
            [Some(day_first), Some(month_first)] => {
                let written = |form: TimeForm| Form::Time(form.written(self.forms.padding, self.forms.offset));
                Reading::Ambiguous([day_first, month_first].map(written))
            }
            // A date, or a time without a zone, does not fit among times with a zone.
            _ if usual != 0 && first.has_zone() => Reading::Usual,
            _ if usual & super::TIMESTAMP != 0 && !first.has_clock() => Reading::Usual,
            _ => self.time(first),
        }
    }

    fn numbers(self, given: &GivenForms) -> Reading {
        let has = |flag| self.flags & flag != 0;
        // Numbers in the usual form narrow the choice: with thousands separators they have few digits, unless `1.234`
        // is one of them.
        let (most_whole, has_decimals) = (if has(NUMBER) { self.whole } else { 0 }, has(NUMBER) && self.scale > 0);
        let parses_all = |(bit, form): &(u8, NumberForm)| {
            self.forms.numbers & bit != 0
                && (!has_decimals || form.decimal() == b'.' || (form.has_thousands_by(b'.') && !has(UNGROUPED)))
        };
        let all: Vec<(u8, NumberForm)> = number_forms(given.number).filter(parses_all).collect();
        let goes_with =
            |(bit, form): &&(u8, NumberForm)| !form.has_thousands() || most_whole <= 3 || *bit == GIVEN_NUMBER;
        let left: Vec<NumberForm> = all.iter().filter(goes_with).map(|(_, form)| *form).collect();
        let Some(first) = left.first() else { return Reading::Usual };
        // `1,234` beside `1500` is no evidence of a decimal comma: both may be whole numbers of different origins.
        let possible = if given.number.is_none() { all.iter().map(|(_, form)| *form).collect() } else { left.clone() };
        if let Some(other) = possible.iter().find(|form| form.decimal() != first.decimal()) {
            return match left.iter().find(|form| given.likely_decimal == Some(form.decimal())) {
                Some(likely) => self.number_in(*likely),
                None => Reading::Ambiguous([Form::Number(*first), Form::Number(*other)]),
            };
        }
        let is_phone_number = has(SPACED_DIGITS) && !has(NUMBER) && self.forms.scale == 0;
        if is_phone_number || first.decimal() == b',' && self.may_have_lists(given) {
            return Reading::Usual;
        }
        self.number_in(*first)
    }

    /// The values as numbers in a form.
    fn number_in(self, form: NumberForm) -> Reading {
        let has = |flag| self.flags & flag != 0;
        let has_point = form.decimal() == b'.';
        let (mut whole, mut scale) = (self.forms.whole, self.forms.scale);
        if has(NUMBER) {
            whole = whole.max(if self.scale > 0 && !has_point { self.whole + 3 } else { self.whole });
            scale = scale.max(if has_point { self.scale } else { 0 });
        }
        if has(SHORT_GROUP) {
            whole = whole.max(if has_point { 6 } else { 3 });
            scale = scale.max(if has_point { 0 } else { 3 });
        }
        let usual = Self { whole, scale, ..self };
        let is_float = has(FLOAT) || self.nulls.has_nan() && scale > 0 && usual.fits_floats();
        let logical_type = match is_float {
            true if usual.fits_floats() => LogicalType::Float64,
            true => LogicalType::String,
            false => usual.number(),
        };
        match logical_type {
            LogicalType::String => Reading::Usual,
            logical_type => Reading::Formed(logical_type, Form::Number(form)),
        }
    }
}
