//! Conditions of SQL: what they mean, and what is wrong with them.

use super::records::Record;
use crate::Expression;
use brc_core::{ColumnStatistics, Predicate, PruneResult, Schema};
use proptest::prelude::*;
use std::cmp::Ordering;

/// A condition that is written to text for the parser, and judged here row by row in plain code.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Number { column: usize, operator: &'static str, number: Decimal, mirrored: bool },
    Text { column: usize, operator: &'static str, text: String, mirrored: bool },
    In { column: usize, negated: bool, list: Vec<String> },
    Between { column: usize, negated: bool, low: Decimal, high: Decimal },
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}

/// `mantissa / 10^decimals`
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    mantissa: i128,
    decimals: u32,
}

const TEXTS: [&str; 2] = ["s", "t"];
const NUMBERS: [(&str, u32); 2] = [("x", 1), ("\"y y\"", 0)];

impl Condition {
    pub(crate) fn write(&self) -> String {
        let not = |negated: bool| if negated { "not " } else { "" };
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let sides = |left: &str, operator: &str, right: &str, mirrored: bool| match mirrored {
            false => format!("{left} {operator} {right}"),
            true => {
                let swapped: String = operator
                    .chars()
                    .map(|sign| match sign {
                        '<' => '>',
                        '>' => '<',
                        _ => sign,
                    })
                    .collect();
                let swapped = if operator == "<>" { operator } else { &swapped };
                format!("{right}{swapped}{left}")
            }
        };
        let joined = |parts: &[Self], word: &str| {
            parts.iter().map(|part| format!("({})", part.write())).collect::<Vec<_>>().join(word)
        };
        match self {
            Self::Number { column, operator, number, mirrored } => {
                sides(NUMBERS[*column].0, operator, &number.write(), *mirrored)
            }
            Self::Text { column, operator, text, mirrored } => {
                sides(TEXTS[*column], operator, &quoted(text), *mirrored)
            }
            Self::In { column, negated, list } => {
                let list: Vec<_> = list.iter().map(|text| quoted(text)).collect();
                format!("{} {}In ({})", TEXTS[*column], not(*negated), list.join(" ,"))
            }
            Self::Between { column, negated, low, high } => {
                format!("{} {}between {} AND {}", NUMBERS[*column].0, not(*negated), low.write(), high.write())
            }
            Self::And(parts) => joined(parts, " and "),
            Self::Or(parts) => joined(parts, " OR "),
            Self::Not(part) => format!("not({})", part.write()),
        }
    }

    pub(crate) fn holds(&self, row: &Record) -> bool {
        let text = |column: usize| if column == 0 { &row.s } else { &row.t };
        let number = |column: usize| if column == 0 { row.x } else { row.y };
        match self {
            Self::Number { column, operator, number: constant, .. } => {
                compares(constant.order(number(*column), NUMBERS[*column].1), operator)
            }
            Self::Text { column, operator, text: constant, .. } => {
                compares(text(*column).as_slice().cmp(constant.as_bytes()), operator)
            }
            Self::In { column, negated, list } => {
                list.iter().any(|constant| constant.as_bytes() == text(*column)) != *negated
            }
            Self::Between { column, negated, low, high } => {
                let scale = NUMBERS[*column].1;
                (low.order(number(*column), scale).is_ge() && high.order(number(*column), scale).is_le()) != *negated
            }
            Self::And(parts) => parts.iter().all(|part| part.holds(row)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(row)),
            Self::Not(part) => !part.holds(row),
        }
    }
}

impl Decimal {
    fn write(self) -> String {
        let mut out = Vec::new();
        brc_core::decimal::format(self.mantissa, self.decimals as u8, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// How `value / 10^scale` compares with this.
    fn order(self, value: i64, scale: u32) -> Ordering {
        (i128::from(value) * 10i128.pow(self.decimals)).cmp(&(self.mantissa * 10i128.pow(scale)))
    }
}

fn compares(ordering: Ordering, operator: &str) -> bool {
    match operator {
        "=" | "==" => ordering.is_eq(),
        "!=" | "<>" => ordering.is_ne(),
        "<" => ordering.is_lt(),
        "<=" => ordering.is_le(),
        ">" => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

fn decimal() -> impl Strategy<Value = Decimal> {
    let ends =
        prop::sample::select(vec![i128::from(i64::MAX), i128::from(i64::MIN), 10i128.pow(30), -(10i128.pow(30))]);
    let near = (ends, -3i128..=3).prop_map(|(end, off)| end + off);
    let mantissa = prop_oneof![8 => -4000i128..4000, 1 => near];
    (mantissa, 0u32..=3).prop_map(|(mantissa, decimals)| Decimal { mantissa, decimals })
}

fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "b", "ab", "it's", "São", "\u{10FFFF}"]).prop_map(str::to_owned)
}

pub(crate) fn condition() -> impl Strategy<Value = Condition> {
    let operator = || prop::sample::select(vec!["=", "==", "!=", "<>", "<", "<=", ">", ">="]);
    let column = 0usize..2;
    let leaf = prop_oneof![
        (column.clone(), operator(), decimal(), any::<bool>()).prop_map(|(column, operator, number, mirrored)| {
            Condition::Number { column, operator, number, mirrored }
        }),
        (column.clone(), operator(), text(), any::<bool>())
            .prop_map(|(column, operator, text, mirrored)| { Condition::Text { column, operator, text, mirrored } }),
        (column.clone(), any::<bool>(), prop::collection::vec(text(), 1..4))
            .prop_map(|(column, negated, list)| Condition::In { column, negated, list }),
        (column, any::<bool>(), decimal(), decimal()).prop_map(|(column, negated, low, high)| Condition::Between {
            column,
            negated,
            low,
            high
        }),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::Or),
            inner.prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

fn keeps(text: &str, row: &Record) -> bool {
    let predicate = Expression::parse(text).unwrap().resolve(&Record::schema()).unwrap();
    let prune_result = predicate.decide(&|column| match column {
        0 => ColumnStatistics::string(&row.s),
        1 => ColumnStatistics::string(&row.t),
        2 => ColumnStatistics::numbers(row.x, row.x),
        _ => ColumnStatistics::numbers(row.y, row.y),
    });
    assert_ne!(prune_result, PruneResult::Maybe);
    prune_result == PruneResult::Always
}

proptest! {
    #[test]
    fn means_what_plain_code_says(condition in condition(), rows in prop::collection::vec(Record::any(), 1..20)) {
        let text = condition.write();
        for row in &rows {
            prop_assert_eq!(keeps(&text, row), condition.holds(row), "{} of {:?}", text, row);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "[a-c'\"0-9.()<>=!, *-]{0,30}|\\PC*") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(error.position <= text.len() && text.is_char_boundary(error.position));
            prop_assert_eq!(error.to_string().lines().count(), 3, "{}", error);
        }
    }
}

#[test]
fn operators_bind_as_expected() {
    let row = |x| Record { x, ..Record::default() };
    for (text, holds) in [
        ("x = 1 or x = 2 and x = 3", true),
        ("(x = 1 or x = 2) and x = 3", false),
        ("not x = 1 or x = 1", true),
        ("not (x = 1 or x = 1)", false),
        ("not x = 2 and x = 1", true),
        ("NOT NOT x = 1", true),
        ("x between 0 and 1 and x = 2", false),
        ("x not between 2 and 3 AND x not in (2, 3)", true),
        ("1.00 = x", true),
        ("x=1 and(x>0)", true),
    ] {
        assert_eq!(keeps(text, &row(10)), holds, "{text}");
    }
}

#[test]
fn finer_constants_are_exact() {
    let predicate = |text: &str| Expression::parse(text).unwrap().resolve(&Schema::one_brc()).unwrap();
    let number = |low: i64, high: i64| Predicate::Range { column: 1, low: low.into(), high: high.into() };
    for (text, expected) in [
        ("temperature > 30.05", number(301, i64::MAX)),
        ("temperature >= 30.05", number(301, i64::MAX)),
        ("temperature < 30.05", number(i64::MIN, 300)),
        ("temperature > -30.05", number(-300, i64::MAX)),
        ("temperature = 30.05", Predicate::Constant(false)),
        ("temperature != 30.05", number(i64::MIN, i64::MAX)),
        ("temperature = 30.1000000000000000000000000000000000000000000", number(301, 301)),
        ("temperature < 922337203685477580.8", number(i64::MIN, i64::MAX)),
        ("temperature > 922337203685477580.7", Predicate::Constant(false)),
        ("temperature <= 99999999999999999999999999999999999999999999999999", number(i64::MIN, i64::MAX)),
        ("temperature < -99999999999999999999999999999999999999999999999999", Predicate::Constant(false)),
        (
            "temperature between 1 and 2 and temperature < 1.5",
            Predicate::And(vec![Predicate::And(vec![number(10, 20)]), number(i64::MIN, 14)]),
        ),
        ("temperature >= 1 and temperature < 2", Predicate::And(vec![number(10, 19)])),
    ] {
        assert_eq!(predicate(text), expected, "{text}");
    }
}

#[test]
fn mistakes_are_pointed_at() {
    for (text, position, message) in [
        ("", 0, "expected an expression, found the end"),
        ("x >", 3, "expected an expression, found the end"),
        ("x > 3 4", 6, "expected an operator or the end, found '4'"),
        ("(x > 3", 6, "expected ), found the end"),
        ("x > 3)", 5, "expected an operator or the end, found ')'"),
        ("x in ()", 6, "expected an expression, found )"),
        ("x = 'a", 4, "missing closing ' (inside a string it is doubled: 'it''s')"),
        ("\"x = 3", 0, "missing closing \""),
        ("x ; 3", 2, "expected an operator or the end, found ';'"),
        ("not x in (1 2)", 12, "expected ), found 2"),
        ("x = 2 or not (y = 1 and not x in (1 2))", 36, "expected ), found 2"),
        ("not x = any(1, 2)", 13, "expected ), found ,"),
        ("not x = 1 && y = 2", 10, "the operator '&&' is not supported; write b and x > 1"),
        ("not x = 1 or y z", 15, "expected an operator or the end, found 'z'"),
        ("x ** 2 = 1", 2, "the operator '**' is not supported; write power(x, 2)"),
        ("x = 1 /* or y = 2", 17, "missing closing */"),
    ] {
        let error = Expression::parse(text).unwrap_err();
        assert_eq!((error.position, error.message.as_str()), (position, message), "{text}");
    }
}

#[test]
fn what_is_not_supported_is_named() {
    for (text, position, message) in [
        ("x = 1 and y in (select 1)", 10, "subqueries are not supported: run it first and write its result here"),
        ("x = 3 + sum(y) over ()", 8, "window functions ('over') are not supported; use brc-sql"),
        ("x = 3 | y", 4, "the operator '|' is not supported"),
        ("cast(x as json) = 1", 5, "the type JSON is not supported"),
        ("x > date 2024-01-31 and y = 1", 9, "write it in quotes: date '2024-01-31'"),
        ("x > time 10:00", 9, "write it in quotes: time '10:00'"),
        ("x = t + interval 1", 17, "an interval needs a unit, in quotes: interval '1 day'"),
        ("x = t + interval '1.5'", 17, "an interval needs a unit, in quotes: interval '1.5 day'"),
        ("x = interval '3 fortnights'", 13, "the interval unit 'fortnights' is not supported"),
    ] {
        let error = Expression::parse(text).unwrap_err();
        assert_eq!(error.position, position, "{text}");
        assert!(error.message.starts_with(message), "{text}: {}", error.message);
    }
}

#[test]
fn the_caret_stands_below_the_mistake() {
    let shown = |text: &str| Expression::parse(text).unwrap_err().to_string();
    assert_eq!(shown("é > 3 and x <"), "expected an expression, found the end\n  é > 3 and x <\n               ^");
    assert_eq!(shown("x\n\t= ;"), "expected an expression, found ; (line 2, column 4)\n   = ;\n     ^");
    let long = shown(&format!("{}x = ;", "x = 1 and ".repeat(1000)));
    assert!(long.lines().all(|line| line.len() < 130), "{long}");
}

#[test]
fn names_and_types_are_checked() {
    let resolved = |text: &str| Expression::parse(text).unwrap().resolve(&Schema::one_brc()).unwrap_err().to_string();
    assert_eq!(
        resolved("temprature > 30"),
        "unknown column 'temprature', did you mean 'temperature'? (columns: station, temperature)\n  temprature > 30\n  ^"
    );
    assert_eq!(
        resolved("temperature > 3 and station = 30"),
        "column 'station' is of type string, but is compared with a number; write strings in single quotes\n  \
         temperature > 3 and station = 30\n                                ^"
    );
    assert_eq!(
        resolved("station = Oslo"),
        "unknown column 'Oslo' (columns: station, temperature); write strings in single quotes\n  station = Oslo\n            ^"
    );
    assert_eq!(
        resolved("temperature in (1, 'a')"),
        "column 'temperature' is of type decimal(18,1), but is compared with a string; write numbers without quotes\n  temperature in (1, 'a')\n                     ^"
    );
}

#[test]
fn depth_is_bounded() {
    let deep = |levels: usize, open: &str, close: &str| {
        Expression::parse(&format!("{}x = 1{}", open.repeat(levels), close.repeat(levels)))
    };
    assert!(deep(100, "(", ")").is_ok());
    assert!(deep(100, "not ", "").is_ok());
    for (open, close) in [("(", ")"), ("not ", ""), ("not(", ")")] {
        assert_eq!(deep(100_000, open, close).unwrap_err().message, "nested deeper than 100 levels");
    }
    let wide = format!("{}x = 1", "x = 1 or ".repeat(100_000));
    assert!(Expression::parse(&wide).unwrap().resolve(&Record::schema()).is_ok());
}

#[test]
fn constants_of_every_type_are_placed_exactly() {
    let schema = "b:bool,u:uint64 not null,w:decimal(38,2),d:date,t:time(s),at:timestamp(s),utc:timestamp(s) with zone";
    let schema = Schema::parse(schema).unwrap();
    let range = |column: usize, low: i64, high: i64| Predicate::Range { column, low: low.into(), high: high.into() };
    let none = |column: usize| range(column, i64::MAX, i64::MIN);
    let (min, max) = (i64::MIN, i64::MAX);
    for (text, expected) in [
        ("b = TRUE", range(0, 1, 1)),
        ("b = 'false'", range(0, 0, 0)),
        ("u > 18446744073709551614", Predicate::Range { column: 1, low: u64::MAX.into(), high: i128::MAX }),
        ("u = 1.5", Predicate::Constant(false)),
        ("w < 1e36", Predicate::Range { column: 2, low: i128::MIN, high: 10i128.pow(38) - 1 }),
        ("w = 0.001", Predicate::Range { column: 2, low: i128::MAX, high: i128::MIN }),
        ("d >= date '1970-01-02'", range(3, 1, max)),
        ("d = '1970-01-03'", range(3, 2, 2)),
        ("d < timestamp '1970-01-02 00:00:00'", range(3, min, 0)),
        ("d < timestamp '1970-01-02 00:00:01'", range(3, min, 1)),
        ("d = timestamp '1970-01-02 00:00:01'", none(3)),
        ("t <= time '00:00:01.5'", range(4, min, 1)),
        ("t = '00:01'", range(4, 60, 60)),
        ("at > timestamp '1970-01-01 00:00:10.000000001'", range(5, 11, max)),
        ("at >= date '1969-12-31'", range(5, -86_400, max)),
        ("at < timestamp '1969-12-31 23:59:59.5'", range(5, min, -1)),
        ("utc = timestamp '1970-01-01 00:00:10'", range(6, 10, 10)),
        ("utc = '1970-01-01T01:00:10+01:00'", range(6, 10, 10)),
        ("d is not null", Predicate::Not(Box::new(Predicate::IsNull { column: 3 }))),
    ] {
        assert_eq!(Expression::parse(text).unwrap().resolve(&schema).unwrap(), expected, "{text}");
    }
    for (text, message) in [
        ("b = 1", "column 'b' is of type bool, but is compared with a number; compare it with true or false"),
        ("d = 3", "column 'd' is of type date, but is compared with a number; write dates as date '2024-01-31'"),
        (
            "d = '2024-02-30'",
            "column 'd' is of type date, but is compared with a string that is not a date; write dates as date '2024-01-31'",
        ),
        ("d > date '2024-02-30'", "'2024-02-30' is not a date"),
        ("at < timestamp '2024-01-32 00:00:00'", "'2024-01-32 00:00:00' is not a timestamp"),
        (
            "at < '2024-01-32'",
            "column 'at' is of type timestamp(s), but is compared with a string that is not a point in time; \
             write such as timestamp '2024-01-31 23:59:59'",
        ),
        (
            "t > '25:00'",
            "column 't' is of type time(s), but is compared with a string that is not a time; \
             write times as time '23:59:59'",
        ),
        ("u = date '2024-01-31'", "column 'u' is of type uint64, but is compared with a date"),
        (
            "t = timestamp '2024-01-31'",
            "column 't' is of type time(s), but is compared with a timestamp; write times as time '23:59:59'",
        ),
    ] {
        let error = Expression::parse(text).unwrap().resolve(&schema).unwrap_err().to_string();
        assert_eq!(error.lines().next(), Some(message), "{text}");
    }
}
