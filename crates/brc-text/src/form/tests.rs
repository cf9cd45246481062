use super::*;
use brc_core::{Field, TimeUnit};
use proptest::prelude::*;

fn timestamp(zone: bool) -> LogicalType {
    LogicalType::Timestamp { unit: TimeUnit::Second, zone }
}

/// The value in the usual form, and as the form writes it.
fn read(form: &str, text: &str, logical_type: LogicalType) -> Option<[String; 2]> {
    let form: Form = form.parse().unwrap();
    let value = form.parse(text.as_bytes(), logical_type).ok()?;
    let mut written = Vec::new();
    form.write(value, logical_type, &mut written);
    Some([value.to_text(logical_type), String::from_utf8(written).unwrap()])
}

#[test]
fn times_round_trip_through_strftime_forms() {
    let date = LogicalType::Date;
    for (form, text, logical_type, usual) in [
        ("%d/%m/%Y", "31/12/2024", date, "2024-12-31"),
        ("%-m/%-d/%y", "1/5/69", date, "1969-01-05"),
        ("%e-%^b-%y", " 5-JAN-68", date, "2068-01-05"),
        ("%A, %B %d, %Y", "Tuesday, December 31, 2024", date, "2024-12-31"),
        ("%Y%m%d", "20241231", date, "2024-12-31"),
        ("%D %R", "12/31/24 23:59", timestamp(false), "2024-12-31 23:59:00"),
        ("%I:%M %p", "12:05 AM", LogicalType::Time { unit: TimeUnit::Second }, "00:05:00"),
        ("%-I:%M%P", "12:05pm", LogicalType::Time { unit: TimeUnit::Second }, "12:05:00"),
        ("%Y%m%d%H%M%S", "20241231235958", timestamp(false), "2024-12-31 23:59:58"),
        ("%d/%b/%Y:%H:%M:%S %z at +0100", "01/Jan/2025:00:30:00 +0100", timestamp(true), "2024-12-31 23:30:00Z"),
        ("%a %b %e %H:%M:%S %Z %Y", "Wed Nov  5 21:19:02 UTC 2025", timestamp(true), "2025-11-05 21:19:02Z"),
        ("%s", "-1", timestamp(true), "1969-12-31 23:59:59Z"),
        ("%s", "1700000000", timestamp(false), "2023-11-14 22:13:20"),
    ] {
        assert_eq!(read(form, text, logical_type), Some([usual.to_owned(), text.to_owned()]), "{form}");
    }
    for (form, text) in [
        ("%d/%m/%Y", "31/02/2024"),
        ("%d/%m/%Y", "31/12/24"),
        ("%d/%m/%Y", "31/12/2024 "),
        ("%d/%m/%Y", "/12/2024"),
        ("%Y%m%d", "2024111"),
        ("%a %d/%m/%Y", "Mon 31/12/2024"),
        ("%d %b %Y", "1 Mayo 2024"),
        ("%d/%m/%Y", ""),
    ] {
        assert_eq!(read(form, text, LogicalType::Date), None, "{form} {text}");
    }
    for (form, text, written) in [
        ("%d.%m.%Y %H:%M:%S", "31.12.2024 10:05", Some("31.12.2024 10:05:00")),
        ("%d.%m.%Y %H:%M:%S.%f", "31.12.2024 10:05", Some("31.12.2024 10:05:00.0")),
        ("%d.%m.%Y, %H:%M", "31.12.2024", Some("31.12.2024, 00:00")),
        ("%d.%m.%Y, %H:%M", "31.12.2024,", None),
        ("%d.%m.%Y %H:%M", "31.12.2024 10", None),
        ("%d.%m.%Y %I:%M %p", "31.12.2024 10:00", None),
        ("%d.%m.%Y %H:%M %Z", "31.12.2024", None),
    ] {
        assert_eq!(read(form, text, timestamp(false)).map(|[_, text]| text).as_deref(), written, "{form} {text}");
    }
    let with_fraction = LogicalType::Timestamp { unit: TimeUnit::Millisecond, zone: false };
    let text = "2024-12-31 10:00:00,250";
    assert_eq!(read("%F %T,%f", text, with_fraction).unwrap(), ["2024-12-31 10:00:00.250", text]);
    assert_eq!(read("%F %T,%f", text, timestamp(false)), None);
}

#[test]
fn usual_dates_are_accepted_by_forms_that_start_like_them() {
    assert_eq!(read("%Y-%-m-%-d", "2024-01-05", LogicalType::Date).unwrap(), ["2024-01-05", "2024-1-5"]);
    assert_eq!(read("%d/%m/%Y", "2024-01-05", LogicalType::Date), None);
}

#[test]
fn hours_of_24_must_match_halves_of_the_day() {
    let read = |text| read("%H:%M %p", text, LogicalType::Time { unit: TimeUnit::Second });
    assert!(read("13:05 PM").is_some() && read("11:05 AM").is_some());
    assert_eq!([read("01:05 PM"), read("13:05 AM")], [None, None]);
}

#[test]
fn later_forms_take_precedence() {
    let form = |text: &str| text.parse::<TimeForm>().unwrap();
    let [first, second, own] = ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y"].map(form);
    let of_all = |times: &[(Option<&str>, TimeForm)]| TableForms {
        times: times.iter().map(|(name, form)| (name.map(str::to_owned), *form)).collect(),
        ..TableForms::default()
    };
    let of = |times: &[(Option<&str>, TimeForm)], name: &str| of_all(times).of_column(name).date;
    assert_eq!(of(&[(None, first), (None, second)], "d"), Some(second));
    assert_eq!(of(&[(Some("d"), first), (Some("d"), second)], "d"), Some(second));
    assert_eq!(of(&[(Some("d"), own), (None, first)], "d"), Some(own));
    assert_eq!(of(&[(Some("d"), own), (None, first)], "e"), Some(first));
}

#[test]
fn numbers_round_trip_with_separators() {
    let amount = LogicalType::decimal(2);
    for (form, text, usual) in [
        ("1.234,5", "1.234.567,89", "1234567.89"),
        ("1,234.5", "-1,234.50", "-1234.50"),
        ("1234,5", "1234,50", "1234.50"),
        ("1 234,5", "12 345,67", "12345.67"),
        ("1\u{202f}234,5", "12\u{202f}345,67", "12345.67"),
        ("1'234.5", "999.00", "999.00"),
    ] {
        assert_eq!(read(form, text, amount), Some([usual.to_owned(), text.to_owned()]), "{form}");
    }
    for text in ["1.23,45", "1.2345,6", ",", "1,", "1,5,5", "1,234.5", "", "-", "1.234.56", ".123,4", "1..234"] {
        assert_eq!(read("1.234,5", text, amount), None, "{text}");
    }
    assert_eq!(read("1.234,5", "1.234", LogicalType::Int64).unwrap(), ["1234", "1.234"]);
    assert_eq!(read("1.234,5", ",5", amount).unwrap(), ["0.50", "0,50"]);
    assert_eq!(read("1234,5", &format!(",{}", "5".repeat(63)), LogicalType::Float64), None);
    for form in ["1", "1.234.5", "1a234,5", "1-234.5", "1234"] {
        assert!(form.parse::<Form>().is_err(), "{form}");
    }
}

#[test]
fn invalid_forms_are_rejected() {
    for (form, message) in [
        ("%Q", "unknown format term '%Q' (terms: %Y %m %d %b %H %I %M %S %f %p %z and others of strftime)"),
        ("%d/%m", "'%d/%m' has neither a date (%Y %m %d) nor a time (%H %M)"),
        ("%-é", "unknown format term '%-é' (terms: %Y %m %d %b %H %I %M %S %f %p %z and others of strftime)"),
    ] {
        assert_eq!(form.parse::<TimeForm>().unwrap_err().to_string(), message);
    }
    assert!("%".parse::<TimeForm>().is_err());
    assert!(("%Y".repeat(40)).parse::<TimeForm>().is_err());
    assert_eq!(NumberForm::new(",", ",").unwrap_err(), FormError::SameSeparator(','));
    assert!(
        NumberForm::new("", ",").is_err() && NumberForm::new("1", "").is_err() && NumberForm::new(",", "-").is_err()
    );
}

#[test]
fn forms_round_trip_through_metadata() {
    let forms: [Form; 2] = ["%d/%m/%Y".parse().unwrap(), "1.234,5".parse().unwrap()];
    let fields = [("d", LogicalType::Date), ("n", LogicalType::Int64), ("s", LogicalType::String)];
    let fields = fields.map(|(name, logical_type)| Field::nullable(name, logical_type)).to_vec();
    let metadata = vec![forms[0].metadata("d"), forms[1].metadata("n"), forms[1].metadata("s")];
    let schema = Schema::new(fields).unwrap().with_metadata(metadata);
    assert_eq!(Form::of_columns(&schema), [Some(forms[0]), Some(forms[1]), None]);
}

/// Forms that are detected, and some that only users set.
const FORMS: [&str; 14] = [
    "%d/%m/%Y",
    "%-m/%-d/%y",
    "%e-%^b-%Y",
    "%A, %d. %B %Y",
    "%Y%m%d",
    "%Y-%m-%d %H:%M:%S,%f",
    "%d.%m.%Y %-I:%M%P",
    "%d/%b/%Y:%H:%M:%S %z at +0100",
    "%a %b %e %H:%M:%S %Z %Y",
    "%I:%M:%S %p",
    "%FT%k:%M:%S.%f%:z at -0330",
    "1.234,5",
    "1234,5",
    "1\u{a0}234,5",
];

fn types(scale: u8) -> Vec<LogicalType> {
    let times = TimeUnit::ALL.into_iter().flat_map(|unit| {
        let timestamp = |zone| LogicalType::Timestamp { unit, zone };
        [LogicalType::Time { unit }, timestamp(false), timestamp(true)]
    });
    let decimals = [LogicalType::decimal(scale), LogicalType::Decimal { precision: 9, scale: scale.min(9) }];
    [LogicalType::Date, LogicalType::Int64].into_iter().chain(times).chain(decimals).collect()
}

/// The fast path must agree with the slow one, and the form must write the value identically, apart from trailing
/// zeros.
fn check_exact(form: Form, text: &[u8], logical_type: LogicalType) {
    let Some(value) = form.parse_exact(text, logical_type).map(|value| Value::Integer(value.into())) else { return };
    let shown = || format!("{form} as {logical_type}: {}", String::from_utf8_lossy(text));
    assert_eq!(form.parse(text, logical_type), Ok(value), "{}", shown());
    let mut written = Vec::new();
    form.write(value, logical_type, &mut written);
    let rest = written.strip_prefix(text).unwrap_or_else(|| panic!("{}", shown()));
    assert!(rest.iter().all(|byte| b"0,".contains(byte)), "{}", shown());
}

#[test]
fn exact_parsing_accepts_canonical_text() {
    for (form, text, logical_type) in [
        ("%d/%m/%Y", "31/12/2024", LogicalType::Date),
        ("%-d.%-m.%y", "1.12.69", LogicalType::Date),
        ("%m-%d-%Y", "02-29-2024", LogicalType::Date),
        ("%A, %B %e, %Y", "Friday, May  3, 2024", LogicalType::Date),
        ("%d/%b/%Y:%H:%M:%S %z at +0100", "01/Jan/2025:00:30:00 +0100", timestamp(true)),
        ("%d-%^b-%Y %-I:%M %p", "05-MAY-2024 9:05 PM", timestamp(false)),
        ("1.234,5", "-1.234.567,8", LogicalType::decimal(2)),
        ("1,234.5", "12,345", LogicalType::Int64),
        ("1234,5", "0,05", LogicalType::decimal(2)),
    ] {
        let form: Form = form.parse().unwrap();
        let exact = form.parse_exact(text.as_bytes(), logical_type).map(|value| Value::Integer(value.into()));
        assert_eq!(exact, form.parse(text.as_bytes(), logical_type).ok(), "{form} {text}");
        assert!(exact.is_some());
    }
    for (form, text, logical_type) in [
        ("%d/%m/%Y", "31/02/2024", LogicalType::Date),
        ("%d/%m/%Y", "1/2/2024", LogicalType::Date),
        ("%m-%d-%Y", "12-31-9999", LogicalType::Date),
        ("%d/%m/%Y", "31-12-2024", LogicalType::Date),
        ("%-d/%-m/%Y", "01/2/2024", LogicalType::Date),
        ("%d/%b/%Y:%H:%M:%S %z", "01/Jan/2025:00:30:00 +0100", timestamp(true)),
        ("%d %b %Y", "01 JAN 2024", LogicalType::Date),
        ("1.234,5", "1234,5", LogicalType::decimal(2)),
        ("1.234,5", "1,234", LogicalType::decimal(2)),
        ("1.234,5", "01,2", LogicalType::decimal(2)),
        ("1.234,5", "-0,0", LogicalType::decimal(2)),
        ("1.234,5", "1.234.567.890.123.456.789,0", LogicalType::decimal(2)),
    ] {
        let form: Form = form.parse().unwrap();
        assert_eq!(form.parse_exact(text.as_bytes(), logical_type), None, "{form} {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn written_times_are_parsed_back(
        date in prop::sample::select(vec!["%d/%m/%Y", "%-m/%-d/%Y", "%b %e, %Y", "%A %d. %B %Y", "%Y%m%d", "%d%^b%Y"]),
        clock in prop::sample::select(vec![" %H:%M:%S", " %-I:%M:%S %p", ", %l:%M:%S%P", "T%H%M%S", ":%k:%M:%S"]),
        zone in prop::sample::select(vec!["", " %z", " %z at -0330", "%:z at +0545", " %Z"]),
        seconds in -62_000_000_000i64..253_000_000_000,
    ) {
        let form: TimeForm = format!("{date}{clock}{zone}").parse().unwrap();
        let logical_type = form.logical_type(TimeUnit::Second);
        prop_assert_eq!(logical_type, timestamp(!zone.is_empty()));
        let mut text = Vec::new();
        Form::Time(form).write(Value::Integer(seconds.into()), logical_type, &mut text);
        let read = Form::Time(form).parse(&text, logical_type);
        prop_assert_eq!(read, Ok(Value::Integer(seconds.into())), "{:?} {}", form, String::from_utf8_lossy(&text));
        prop_assert_eq!(form.to_string().parse::<TimeForm>(), Ok(form));
    }

    #[test]
    fn exact_parsing_agrees_with_parsing_and_writing(
        form in prop::sample::select(FORMS.to_vec()),
        seconds in -62_000_000_000i64..253_000_000_000,
        scale in 0u8..=18,
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[0-9 ,.:/+aAmM-]"), 0..3),
        cut in prop_oneof![3 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
    ) {
        let form: Form = form.parse().unwrap();
        for logical_type in types(scale).into_iter().filter(|it| form.goes_with(*it)) {
            let number = match logical_type {
                LogicalType::Date => seconds / 86_400,
                LogicalType::Time { unit } => seconds.rem_euclid(86_400) * unit.per_second() + seconds.rem_euclid(1000),
                LogicalType::Timestamp { unit, .. } => seconds * unit.per_second().min(1000) + seconds % 1000,
                _ => seconds << (seconds % 16).unsigned_abs(),
            };
            let mut text = Vec::new();
            form.write(Value::Integer(number.into()), logical_type, &mut text);
            for (index, byte) in &changes {
                let index = index.index(text.len());
                text[index] = byte.as_bytes()[0];
            }
            text.truncate(cut.map_or(text.len(), |cut| cut.index(text.len() + 1)));
            check_exact(form, &text, logical_type);
        }
    }

    #[test]
    fn every_float_round_trips(
        form in prop::sample::select(NumberForm::DETECTED.to_vec()),
        number in prop_oneof![any::<f64>(), (any::<i32>()).prop_map(|number| f64::from(number) / 1000.0)],
    ) {
        let mut text = Vec::new();
        Form::Number(form).write(Value::Float(number), LogicalType::Float64, &mut text);
        let Value::Float(read) = Form::Number(form).parse(&text, LogicalType::Float64).unwrap() else { unreachable!() };
        prop_assert!(read == number || read.is_nan() && number.is_nan(), "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn every_number_round_trips(
        form in prop::sample::select(NumberForm::DETECTED.to_vec()),
        number in any::<i64>(),
        scale in 0u8..18,
    ) {
        let logical_type = LogicalType::decimal(scale);
        let value = Value::Integer((number / 10).into());
        let mut text = Vec::new();
        Form::Number(form).write(value, logical_type, &mut text);
        prop_assert_eq!(Form::Number(form).parse(&text, logical_type), Ok(value));
        prop_assert_eq!(form.to_string().parse::<NumberForm>(), Ok(form));
    }

    #[test]
    fn arbitrary_text_does_not_panic(form in "[%a-zA-Z0-9 :/,.-]{0,12}", text in "[ -~é]{0,20}") {
        if let Ok(form) = form.parse::<Form>() {
            _ = form.parse(text.as_bytes(), LogicalType::Date);
            _ = form.parse(text.as_bytes(), LogicalType::decimal(2));
        }
    }
}
