use super::*;
use crate::form::GivenNumber;
use brc_core::Value;
use proptest::prelude::*;

/// The type of a column of these values, which are separated by blanks.
fn inferred(values: &str, exact: bool) -> String {
    let seen = values.split(' ').map(|value| Seen::of(value.replace('_', " ").as_bytes()));
    let seen = seen.fold(Seen::NOTHING, Seen::join);
    seen.logical_type(exact).unwrap().to_string()
}

#[test]
fn the_narrowest_type_fits_all_values() {
    for (values, logical_type) in [
        ("true FALSE", "bool"),
        ("0 -7 9223372036854775807 -9223372036854775808", "int64"),
        ("0 9223372036854775808 18446744073709551615", "uint64"),
        ("-1 9223372036854775808", "decimal(38,0)"),
        ("18446744073709551616", "decimal(38,0)"),
        ("1.5 2.25 3", "decimal(18,2)"),
        ("1.5 12345678901234567890", "decimal(38,1)"),
        ("99999999999999999999999999999999999999", "decimal(38,0)"),
        ("100000000000000000000000000000000000000", "string"),
        ("0.12345678901234567890123456789012345678", "decimal(38,38)"),
        ("1.5 1e5 nan -inf", "float64"),
        ("9.9e-05 23.456789 7", "float64"),
        ("12345678901234567 1e5", "string"),
        ("9007199254740993 1e5", "string"),
        ("9007199254740992 1e5", "float64"),
        ("1e400", "string"),
        ("01", "string"),
        ("+1", "string"),
        (".5", "decimal(18,1)"),
        ("-.25 1", "decimal(18,2)"),
        (".5e3 1.5", "float64"),
        (". -.", "string"),
        ("1.", "string"),
        ("5.", "string"),
        ("-", "string"),
        ("2024-02-29", "date"),
        ("2023-02-29", "string"),
        ("23:59 00:00:00", "time(s)"),
        ("23:59 00:00:00.25", "time(ms)"),
        ("2024-02-29 2024-02-29_12:00:00", "timestamp(s)"),
        ("2024-02-29T12:00:00.123456 1500-01-01", "timestamp"),
        ("2024-02-29T12:00:00.123456789 1500-01-01", "string"),
        ("2024-02-29T12:00:00Z 2024-02-29T12:00:00.5+02:00", "timestamp(ms) with zone"),
        ("2024-02-29T12:00:00Z 2024-02-29T12:00:00", "string"),
        ("true 1", "string"),
        ("1 x", "string"),
        // Null tokens are null among typed values, and strings among strings or alone.
        ("1 NA", "int64"),
        ("- 2024-02-29 N/A", "date"),
        ("true NULL \\N", "bool"),
        ("23:59:00 ? --", "time(s)"),
        ("1.5 #N/A (null) . None", "decimal(18,1)"),
        ("NA - .", "string"),
        ("NA x", "string"),
        ("01 NA", "string"),
        ("missing 1", "string"),
        // NaN is a float only among decimals or exponents, or alone.
        ("1 NaN", "int64"),
        ("NaN 2024-02-29", "date"),
        ("1.5 NaN", "float64"),
        ("1e5 NaN NA", "float64"),
        ("NaN", "float64"),
        ("NaN NA", "string"),
        ("12345678901234567.5 NaN", "decimal(18,1)"),
    ] {
        assert_eq!(inferred(values, false), logical_type, "{values}");
    }
    assert_eq!(Seen::NOTHING.logical_type(false), None);
}

#[test]
fn exact_text_keeps_values_that_would_change_as_strings() {
    for (values, is_kept) in [
        ("true", false),
        ("TRUE", true),
        ("1 2", false),
        ("-0", true),
        ("1.5 2.5", false),
        ("1.5 2.25", true),
        ("1e5", true),
        ("1e300 1.5", false),
        ("1e300 1.5 2.25", false),
        ("1e300 1", true),
        ("2024-02-29_12:00:00", false),
        ("2024-02-29T12:00:00", true),
        ("2024-02-29_12:00:00Z", false),
        ("2024-02-29_12:00:00+02", true),
        ("23:59:59.5", true),
        ("23:59", true),
    ] {
        assert_eq!(inferred(values, true) == "string", is_kept, "{values}");
    }
}

/// Values of all kinds, including those at the limits of types.
pub(crate) fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?[0-9]{1,3}",
        "-?[0-9]{15,20}",
        "-?[0-9]{1,20}\\.[0-9]{1,20}",
        "-?[0-9](\\.[0-9]{1,2})?[eE][-+]?[0-9]{1,3}",
        "true|FALSE|inf|-inf|NaN|nan|NA|-|x|-0|0\\.0|1e5",
        "20[0-2][0-9]-[01][0-9]-[0-3][0-9]",
        "(20|15)[0-2][0-9]-0[1-9]-[0-2][1-8][ T][0-2][0-9]:00(:00(\\.[0-9]{1,9})?)?(Z|\\+02:00)?",
        "[0-2][0-9]:[0-5][0-9](:00(\\.[0-9]{1,9})?)?",
    ]
}

proptest! {
    #[test]
    fn every_value_fits_the_inferred_type(texts in prop::collection::vec(values(), 1..6)) {
        let seen = texts.iter().fold(Seen::NOTHING, |seen, text| seen.join(Seen::of(text.as_bytes())));
        let logical_type = seen.logical_type(false).unwrap();
        for text in &texts {
            let is_null = !Seen::of(text.as_bytes()).null_tokens(logical_type).is_empty();
            let value = Value::parse(text.as_bytes(), logical_type);
            prop_assert!(value.is_ok() || is_null, "{text} as {logical_type}: {value:?}");
        }
        if let Some(exact) = seen.logical_type(true) {
            for text in &texts {
                let value = Value::parse(text.as_bytes(), exact).unwrap();
                prop_assert_eq!(&value.to_text(exact), text);
            }
        }
    }
}

/// The type and form of a column of these `|`-separated values, or the ambiguous forms.
fn formed(values: &str) -> String {
    let seen = values.split('|').map(|value| Seen::of(value.as_bytes())).fold(Seen::NOTHING, Seen::join);
    described(seen, &GivenForms::default())
}

fn described(seen: Seen, given: &GivenForms) -> String {
    match (seen.form(given), seen.ambiguity(given)) {
        (Some(form), _) => format!("{} {form}", seen.type_in(false, given).unwrap()),
        (_, Some([first, second])) => format!("{first} or {second}"),
        _ => seen.type_in(false, given).unwrap().to_string(),
    }
}

#[test]
fn time_forms_are_inferred() {
    for (values, expected) in [
        ("31/12/2024|01/02/2024", "date %d/%m/%Y"),
        ("2024-01-05|2024-01-05 9:05", "timestamp(s) %Y-%m-%d %-H:%M"),
        ("2024-01-05|2024-01-05 10:00:00 UTC", "string"),
        ("12/31/2024|1/2/2024|NA", "date %-m/%-d/%Y"),
        ("31.12.2024|01.02.2024", "date %d.%m.%Y"),
        ("01.02.2024", "date %d.%m.%Y"),
        ("2024/12/31", "date %Y/%m/%d"),
        ("Dec 31, 2024|Jan 5, 2024", "date %b %-d, %Y"),
        ("May 5, 2024|December 31, 2024", "date %B %-d, %Y"),
        ("May 5, 2024", "date %b %-d, %Y"),
        ("31-Dec-24", "date %d-%b-%y"),
        ("31-DEC-24|05-JAN-24", "date %d-%^b-%y"),
        (
            "20/Nov/2025:10:00:00 +0100|1/Nov/2025:10:00:00 +0100",
            "timestamp(s) with zone %-d/%b/%Y:%H:%M:%S %z at +0100",
        ),
        ("20/Nov/2025:10:00:00 +0100|20/Mar/2025:10:00:00 +0200", "timestamp(s) with zone %d/%b/%Y:%H:%M:%S %z"),
        ("12/31/2024 1:05 PM|1/2/2024 12:00 AM", "timestamp(s) %-m/%-d/%Y %-I:%M %p"),
        ("12/31/2024, 01:05:00 PM", "timestamp(s) %m/%d/%Y, %I:%M:%S %p"),
        ("1:05 PM|12:30 AM", "time(s) %-I:%M %p"),
        ("9:05|10:05", "time(s) %-H:%M"),
        ("2024-1-5|2024-10-15", "date %Y-%-m-%-d"),
        ("2024-01-05 9:05|2024-01-05 10:05", "timestamp(s) %Y-%m-%d %-H:%M"),
        ("2024-01-05 10:00:00,250", "timestamp(ms) %Y-%m-%d %H:%M:%S,%f"),
        ("2024-01-05 10:00:00 UTC", "timestamp(s) with zone %Y-%m-%d %H:%M:%S %Z"),
        ("2024-01-05 10:00:00 UTC|2024-01-05 10:00:00.5 UTC", "timestamp(ms) with zone %Y-%m-%d %H:%M:%S.%f %Z"),
        (
            "31/12/2024 10:00:00.25 +0100|31/12/2024 10:00:00 +0100",
            "timestamp(ms) with zone %d/%m/%Y %H:%M:%S.%f %z at +0100",
        ),
        ("Wed Aug 27 13:08:45 +0000 2008", "timestamp(s) with zone %a %b %d %H:%M:%S %z %Y"),
        ("Jan  1 2024 12:00AM", "timestamp(s) %b %e %Y %I:%M%p"),
        // Parts of the time may be missing.
        ("31/12/2024|31/12/2024 10:00", "timestamp(s) %d/%m/%Y %H:%M"),
        ("31.12.2024 10:00|31.12.2024 10:00:30", "timestamp(s) %d.%m.%Y %H:%M:%S"),
        ("31.12.2024 10:00:00.5|31.12.2024 10:00:01|31.12.2024", "timestamp(ms) %d.%m.%Y %H:%M:%S.%f"),
        ("12/31/2024|1/2/2024 1:05 PM", "timestamp(s) %-m/%-d/%Y %-I:%M %p"),
        ("31.12.2024 10:00|31.12.2024 10:00:00,25", "timestamp(ms) %d.%m.%Y %H:%M:%S,%f"),
        ("9:05 AM|10:05:30 AM", "string"),
        // Durations.
        ("9:05|10:05:30", "string"),
        ("1:02:03|12:45", "string"),
        ("0:09:05|10:05:30", "time(s) %-H:%M:%S"),
        // A day after the 12th decides.
        ("05/06/2024", "%d/%m/%Y or %m/%d/%Y"),
        ("05/06/2024 10:00|1/2/2024 9:00", "%d/%m/%Y %-H:%M or %m/%d/%Y %-H:%M"),
        // No form parses all values.
        ("31/12/2024|12/31/2024", "string"),
        ("31/12/2024|31.12.2024", "string"),
        ("31/12/2024|2024-12-31", "string"),
        ("31/12/2024|soon", "string"),
        ("31/12/2024|5", "string"),
        ("31/12/2024|31/12/2024 10:00:00 UTC", "string"),
        ("31/12/2024 10:00|31/12/2024 1:00 PM", "string"),
        ("31/12/2024|31/04/2024|31/11/2024", "string"),
        ("20241231", "int64"),
        ("1.2.3|18.12.10", "string"),
        ("10.0.0.1", "string"),
        ("24:61", "string"),
    ] {
        assert_eq!(formed(values), expected, "{values}");
    }
}

#[test]
fn number_forms_are_inferred() {
    for (values, expected) in [
        ("1.234,56|7", "decimal(18,2) 1.234,5"),
        ("1,234.56|12.5|7|-999", "decimal(18,2) 1,234.5"),
        ("1 234,56|12,00", "decimal(18,2) 1 234,5"),
        ("1\u{a0}234|12\u{a0}345", "int64 1\u{a0}234,5"),
        ("0,5|1234,25|12", "decimal(18,2) 1234,5"),
        ("1,234,567|12", "int64 1,234.5"),
        ("1,234,567|1,234", "int64 1,234.5"),
        ("1.234.567|1.234|12", "int64 1.234,5"),
        ("1.234,5|1.234|12", "decimal(18,1) 1.234,5"),
        ("1,234|0,5", "decimal(18,3) 1234,5"),
        ("1'234'567.25", "decimal(18,2) 1'234.5"),
        ("9,999,999,999,999,999,999", "uint64 1,234.5"),
        ("1,234", "1234,5 or 1,234.5"),
        ("1,234|5|-12,345", "1234,5 or 1,234.5"),
        ("1,234|5|1500", "1234,5 or 1,234.5"),
        ("1,234|0,5|1500", "decimal(18,3) 1234,5"),
        ("1.234", "decimal(18,3)"),
        ("1,23E-05|12|0,5", "float64 1234,5"),
        ("1,5|1e5", "float64 1234,5"),
        ("1,234e5", "float64 1234,5"),
        ("1.234,5|2,5e-7|1.234", "float64 1.234,5"),
        ("1,234.5|2.5e-7|1e5", "float64 1,234.5"),
        ("1,5|inf|-Infinity|NaN", "float64 1234,5"),
        ("1,5|NaN", "float64 1234,5"),
        ("1,5|NA", "decimal(18,1) 1234,5"),
        ("1.234.567|NaN", "int64 1.234,5"),
        (",5|-,25|1.234,5", "decimal(18,2) 1.234,5"),
        // No form parses all values.
        ("1.234,56|1,234.56", "string"),
        ("1,234.56|1234.56", "string"),
        ("1.234.567|1.5", "string"),
        ("1.234.567|0.234", "string"),
        ("1,234,567|12345", "string"),
        ("1,5|2.5", "string"),
        ("1.5e3|2,5", "string"),
        ("1.234,5e3", "string"),
        ("1,23456789012345678|1,5e3", "string"),
        ("555 123 456", "string"),
        ("1,23,45", "string"),
        ("01,5", "string"),
        ("+1,5", "string"),
        ("1,5|2024-01-01", "string"),
        ("$1,234.56", "string"),
        ("12,5%", "string"),
    ] {
        assert_eq!(formed(values), expected, "{values}");
    }
}

#[test]
fn forms_set_by_the_user_take_precedence() {
    let given = GivenForms {
        number: Some(GivenNumber { form: "1.234,5".parse().unwrap(), any_thousands: false }),
        date: Some("%Y%m%d".parse().unwrap()),
        timestamp: Some("%m/%d/%Y %H:%M".parse().unwrap()),
        ..GivenForms::default()
    };
    for (values, expected) in [
        ("20241231|20240101", "date %Y%m%d"),
        ("20241231|99999999", "int64"),
        ("20241231|x", "string"),
        ("05/06/2024 10:00", "timestamp(s) %m/%d/%Y %H:%M"),
        ("2024-12-31", "date"),
        ("1.234|5", "int64 1.234,5"),
        ("1.234,5|1234", "decimal(18,1) 1.234,5"),
        ("1.5", "string"),
        ("1.5e5", "string"),
        ("1,5e5|7", "float64 1.234,5"),
        ("1e5", "float64"),
        ("5|7000", "int64"),
        ("05/06/2024", "%d/%m/%Y or %m/%d/%Y"),
        ("", "string"),
    ] {
        assert_eq!(formed_in(values, &given), expected, "{values}");
    }
    for (decimal, values, expected) in [
        ("1234,5", "1,234", "decimal(18,3) 1234,5"),
        ("1234,5", "1,234|1.234,5", "decimal(18,3) 1.234,5"),
        ("1234,5", "1.234", "int64 1.234,5"),
        ("1234,5", "1.5", "string"),
        ("1234.5", "1,234|1.5", "decimal(18,1) 1,234.5"),
        ("1234.5", "1.5", "decimal(18,1)"),
        ("1234.5", "1,234|1.5e3", "float64 1,234.5"),
        ("1234.5", "1,5", "string"),
    ] {
        let number = GivenNumber { form: decimal.parse().unwrap(), any_thousands: true };
        let given = GivenForms { number: Some(number), ..GivenForms::default() };
        assert_eq!(formed_in(values, &given), expected, "{values}");
    }
    let spaces = GivenNumber { form: "1 234.5".parse().unwrap(), any_thousands: false };
    let given = GivenForms { number: Some(spaces), ..GivenForms::default() };
    assert_eq!(formed_in("1 234|1234", &given), "int64 1 234.5");
}

#[test]
fn other_columns_resolve_ambiguous_numbers() {
    for (decimal, values, expected) in [
        (b',', "1,234|5", "decimal(18,3) 1234,5"),
        (b'.', "1,234|5", "int64 1,234.5"),
        (b',', "1.234|5", "int64 1.234,5"),
        (b',', "1.234|5.5", "decimal(18,3)"),
        (b',', "1,234|5|1500", "decimal(18,3) 1234,5"),
        (b'.', "1,234|5|1500", "1234,5 or 1,234.5"),
        (b',', "1.2345", "decimal(18,4)"),
        (b',', "12", "int64"),
        (b'.', "1.234|5", "decimal(18,3)"),
        (b',', "1,234.5", "decimal(18,1) 1,234.5"),
    ] {
        let given = GivenForms { likely_decimal: Some(decimal), ..GivenForms::default() };
        assert_eq!(formed_in(values, &given), expected, "{values}");
    }
    for (values, decimal) in
        [("1,5", Some(b',')), ("1.5", Some(b'.')), ("1.234", None), ("1,234", None), ("12", None), ("x", None)]
    {
        let seen = values.split('|').map(|value| Seen::of(value.as_bytes())).fold(Seen::NOTHING, Seen::join);
        assert_eq!(seen.decimal(&GivenForms::default()), decimal, "{values}");
    }
}

fn formed_in(values: &str, given: &GivenForms) -> String {
    let seen = |value: &str| Seen::of(value.as_bytes()).in_forms(value.as_bytes(), given);
    described(values.split('|').map(seen).fold(Seen::NOTHING, Seen::join), given)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn an_inferred_form_parses_all_values(
        values in prop::collection::vec(
            "[0-3]?[0-9]([/.-])(0?[1-9]|1[0-2]|Jan)[/.-](20)?[0-9]{2}( [0-9]{1,2}:[0-9]{2}( ?[AP]M)?)?|-?[0-9]{1,4}([., ][0-9]{3}){0,2}([.,][0-9]{1,3})?(e-?[0-9]{1,2})?|NaN|2024-0?1-0[1-9]([T ]1?[0-9]:00(:00(\\.[0-9]{1,3})?)?( UTC| ?\\+01:?00|Z)?)?",
            1..4,
        ),
        order in any::<prop::sample::Index>(),
    ) {
        let join = |values: &[String]| {
            values.iter().map(|value| Seen::of(value.as_bytes())).fold(Seen::NOTHING, Seen::join)
        };
        let seen = join(&values);
        let mut turned = values.clone();
        turned.rotate_left(order.index(values.len()));
        prop_assert_eq!(seen, join(&turned));
        let given = GivenForms::default();
        if let Some(form) = seen.form(&given) {
            let logical_type = seen.logical_type(false).unwrap();
            for value in &values {
                let is_null = !Seen::of(value.as_bytes()).null_tokens(logical_type).is_empty();
                let read = form.parse(value.as_bytes(), logical_type);
                prop_assert!(is_null || read.is_ok(), "{} as {} {}", value, logical_type, form);
            }
        }
    }
}
