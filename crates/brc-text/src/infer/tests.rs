use super::*;
use brc_core::Value;
use proptest::prelude::*;

/// The type of a column of these values, with blanks between.
fn inferred(values: &str, exact: bool) -> String {
    let seen = values.split(' ').map(|value| Seen::of(value.replace('_', " ").as_bytes()));
    let seen = seen.fold(Seen::NOTHING, Seen::join);
    seen.logical_type(exact).unwrap().to_string()
}

#[test]
fn the_least_type_holds_all_values() {
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
        ("1,234.5", "string"),
        (".5", "string"),
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
        // Words for missing values are null beside values of a type, and strings beside strings or alone.
        ("1 NA", "int64"),
        ("- 2024-02-29 N/A", "date"),
        ("true NULL \\N", "bool"),
        ("23:59:00 ? --", "time(s)"),
        ("1.5 #N/A (null) . None", "decimal(18,1)"),
        ("NA - .", "string"),
        ("NA x", "string"),
        ("01 NA", "string"),
        ("missing 1", "string"),
        // No number is a float but beside decimals or exponents, or alone.
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
fn exact_text_keeps_what_would_be_written_otherwise() {
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

/// Values of all kinds, among them those at the borders between types.
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
    fn every_value_is_held_by_the_type(texts in prop::collection::vec(values(), 1..6)) {
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
