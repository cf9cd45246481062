//! What values in forms other than the usual one require.

use super::{FORMS, FormSet, Forms, GIVEN, GIVEN_DATE, GIVEN_NUMBER, GIVEN_TIMESTAMP, number_forms};
use crate::form::{GivenForms, GivenNumber, NumberForm, Parts, TimeForm};
use crate::infer::{
    ENDS_IN_ZERO, FLOAT, FLOAT_OR_NUMBER, FORMED_NUMBER, FORMED_TIME, GROUPED, INEXACT, NEGATIVE, OF_INTEGERS,
    SHORT_GROUP, SHORT_LEAD, SPACED_DIGITS, Seen, TEXT, numbers, times,
};
use brc_core::TimeUnit;

/// What a number or time in a detected form requires.
pub(in crate::infer) fn seen(text: &[u8]) -> Option<Seen> {
    let may_be_one = (2..=64).contains(&text.len())
        && (text[0].is_ascii_alphanumeric() && text.len() > 2 || matches!(text[0], b'-' | b' ' | b','))
        && text.iter().any(u8::is_ascii_digit);
    if may_be_one { time(text).or_else(|| number(text, None)) } else { None }
}

/// What a time in a detected form requires.
fn time(text: &[u8]) -> Option<Seen> {
    let Forms { starts, dotted_short_dates, clocks, .. } = &*FORMS;
    let is_padded = matches!(text, [_, _, b'.', _, _, b'.', ..]);
    let mut found: Option<(FormSet, Parts)> = None;
    let mut clock_flag = 0;
    for (index, start) in (0..).zip(starts) {
        if dotted_short_dates & 1 << index != 0 && !is_padded {
            continue;
        }
        let Some((date, rest)) = start.parse_start(text) else { continue };
        // A time of day alone is not followed by another.
        let clocks = if start.has_date() && !start.has_clock() { &clocks[..] } else { &clocks[..1] };
        let read = |clock: &TimeForm| clock.parse(rest).map(|clock| date.and(clock)).filter(Parts::is_written_so);
        let mut of_start =
            (0..).zip(clocks).filter_map(|(index, clock)| Some((1u32 << index, read(clock)?))).peekable();
        let Some(parts) = of_start.peek().map(|(_, parts)| *parts) else { continue };
        let clocks = of_start.fold(0, |clocks, (clock, _)| clocks | clock);
        match &mut found {
            None => {
                let (padding, offset) = (parts.padding, parts.zone());
                let set = FormSet { starts: 1 << index, clocks, padding, offset, ..FormSet::ALL };
                found = Some((set, parts));
                clock_flag = if start.has_date() { 0 } else { times::clock_flag(text) };
            }
            Some((set, _)) if set.clocks == clocks => set.starts |= 1 << index,
            Some(_) => {}
        }
    }
    found.map(|(forms, parts)| Seen { forms, flags: FORMED_TIME | clock_flag, ..of_parts(&parts) })
}

/// What the parts of a time require of its unit.
fn of_parts(parts: &Parts) -> Seen {
    let unit = TimeUnit::ALL.iter().position(|unit| unit.digits() >= u32::from(parts.digits)).unwrap_or(3) as u8;
    let too_short = parts.nanos_since_epoch().map_or(0, times::too_short);
    Seen { unit, least_unit: unit, too_short, ..Seen::NOTHING }
}

/// What a number in a form that is set or detected requires.
fn number(text: &[u8], given: Option<GivenNumber>) -> Option<Seen> {
    let is_plausible =
        |bit: u8, form: &NumberForm| bit == GIVEN_NUMBER || !form.has_thousands() || !is_long_group(text);
    let read = |bit: u8, form: &NumberForm| of_number(text, *form).filter(|_| is_plausible(bit, form));
    let found: Vec<(u8, NumberForm, Seen)> =
        number_forms(given).filter_map(|(bit, form)| Some((bit, form, read(bit, &form)?))).collect();
    let (_, first, seen) = *found.first()?;
    let numbers = found.iter().fold(0, |numbers, (bit, ..)| numbers | bit);
    let forms = FormSet { numbers, ..FormSet::ALL };
    let has = |byte: u8| memchr::memchr_iter(byte, text).count();
    let grouped = if has(b'.') > 0 && has(b',') > 0 || has(b'.') > 1 { GROUPED } else { 0 };
    let lead = text.iter().skip_while(|byte| **byte == b'-').take_while(|byte| byte.is_ascii_digit()).count();
    let grouped = if lead < 3 { grouped | SHORT_LEAD } else { grouped };
    let is_spaced = given.is_none() && first.has_thousands_by(b' ') && seen.scale == 0;
    let grouped = if is_spaced { grouped | SPACED_DIGITS } else { grouped };
    let ends_in_zero = if text.ends_with(b"0") { ENDS_IN_ZERO } else { 0 };
    if found.iter().any(|(_, form, _)| form.decimal() != first.decimal()) {
        // Thousands, or three decimals. SHORT_GROUP accounts for the digits of both.
        let flags = FORMED_NUMBER | SHORT_GROUP | grouped | ends_in_zero | seen.flags & NEGATIVE;
        return Some(Seen { flags, forms: FormSet { least_scale: 3, ..forms }, ..Seen::NOTHING });
    }
    let formed = formed(seen, forms);
    let ends_in_zero = if seen.scale > 0 { ends_in_zero } else { 0 };
    Some(Seen { flags: formed.flags | grouped | ends_in_zero, ..formed })
}

/// What a number requires, after conversion to the usual form.
fn of_number(text: &[u8], form: NumberForm) -> Option<Seen> {
    let mut canonical = [0; NumberForm::MAX_BYTES];
    let seen = numbers::seen(form.canonical(text, &mut canonical)?)?;
    (seen.flags & FLOAT_OR_NUMBER != 0).then_some(seen)
}

fn formed(seen: Seen, forms: FormSet) -> Seen {
    let least_scale = if seen.scale > 0 { seen.scale } else { u8::MAX };
    let forms = FormSet { whole: seen.whole, scale: seen.scale, least_scale, ..forms };
    let flags = seen.flags & (OF_INTEGERS | INEXACT | FLOAT);
    Seen { flags: flags | FORMED_NUMBER, forms, ..Seen::NOTHING }
}

/// Whether a number starts with more than three digits, which rules out thousands separators.
fn is_long_group(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    unsigned.iter().take_while(|byte| byte.is_ascii_digit()).count() > 3
}

impl Seen {
    /// Adjusts the requirements of a value for the forms that the user sets.
    #[must_use]
    pub fn in_forms(mut self, text: &[u8], given: &GivenForms) -> Self {
        if given.is_empty() || !self.nulls.is_empty() {
            return self;
        }
        let is_usual = |decimal: u8| {
            self.flags & FLOAT_OR_NUMBER != 0
                && self.flags & FORMED_NUMBER == 0
                && (decimal == b'.' || !text.contains(&b'.'))
        };
        if let Some(number_given) = given.number
            && self.flags & (FLOAT_OR_NUMBER | FORMED_NUMBER | TEXT) != 0
            && !is_usual(number_given.form.decimal())
        {
            self = number(text, given.number).unwrap_or(Self::TEXT);
        }
        let times = [(GIVEN_DATE, &given.date), (GIVEN_TIMESTAMP, &given.timestamp)];
        let parse = |form: TimeForm| form.parse(text).filter(|parts| parts.has_clock() || !form.has_clock());
        for (bit, parts) in times.map(|(bit, form)| (bit, form.and_then(parse))) {
            match parts {
                None => self.forms.starts &= !bit,
                Some(parts) => {
                    self.forms.starts |= bit;
                    let Seen { unit, least_unit, too_short, .. } = of_parts(&parts);
                    (self.unit, self.least_unit, self.too_short) = (unit, least_unit, too_short);
                    self.forms.padding = self.forms.padding.union(parts.padding);
                    self.forms.offset = self.forms.offset.join(parts.zone());
                    if self.flags & TEXT != 0 {
                        self.flags = self.flags & !TEXT | FORMED_TIME;
                        self.forms.starts &= GIVEN;
                    }
                }
            }
        }
        self
    }
}
