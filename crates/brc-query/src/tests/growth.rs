//! Long queries and wide tables: the time they take grows linearly with their length.

use super::records::{PLAIN, Record, table};
use crate::{Answer, Query};
use brc_core::{Progress, Schema, Table};
use brc_testing::{Delivery, MemoryTable, Typed};
use std::sync::mpsc;
use std::time::Duration;

/// A linear algorithm needs a small part of it; a quadratic one of what the tests ask, several times as much.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs something that must end in time.
fn within_limit<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(run()));
    receiver.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("{what}: {error}"))
}

fn rows(rows: i64) -> MemoryTable<Typed> {
    let row = |place: i64| Record { s: place.to_string().into_bytes(), t: Vec::new(), x: place * 10, y: place };
    table((0..rows).map(row).collect(), Delivery { split_rows: 1000, batch_rows: 1000, ..PLAIN })
}

fn ask_of(table: &dyn Table, text: &str) -> Answer {
    Query::parse(text).unwrap().ask(table, 1, &Progress::default()).unwrap().1
}

fn ask(text: String) -> Answer {
    ask_of(&rows(4), &text)
}

/// `template` for each number, with its `#` replaced by it.
fn listed(template: &str, between: &str, numbers: usize) -> String {
    (0..numbers).map(|number| template.replace('#', &number.to_string())).collect::<Vec<_>>().join(between)
}

#[test]
fn many_aggregates_are_computed() {
    for template in ["sum(x + #) as s#", "max(x + #) - min(x + #) as s#", "median(x + #) as s#"] {
        let columns = within_limit(template, move || {
            let answer = ask(format!("select {}", listed(template, ", ", 4000)));
            answer.schema().fields().len()
        });
        assert_eq!(columns, 4000);
    }
}

#[test]
fn many_keys_are_grouped_by() {
    let rows = within_limit("keys", || {
        ask(format!("select {}, count(*) group by {}", listed("x + # as k#", ", ", 3000), listed("k#", ", ", 3000)))
            .rows()
    });
    assert_eq!(rows, Some(4));
}

#[test]
fn many_conditions_are_tested() {
    for (template, between, expected) in [
        ("x <> # + 1", " and ", 1),
        ("\"y y\" <> # + 2", " and ", 2),
        ("x + # > 0", " and ", 3),
        ("x = # or \"y y\" = #", " or ", 4),
    ] {
        let rows =
            within_limit(template, move || ask(format!("select x where {}", listed(template, between, 20_000))).rows());
        assert_eq!(rows, Some(expected), "{template}");
    }
}

#[test]
fn long_lists_are_looked_up() {
    // Of 20,000 rows, half are in each list.
    for (template, between, around) in [
        ("1#", ", ", "x in (@)"),
        ("1#", ", ", "x not in (@)"),
        ("'1#'", ", ", "s in (@)"),
        ("'1#'", ", ", "not s in (@)"),
        ("1#", ", ", "x + 1 in (@)"),
        ("'1#'", ", ", "s || '' in (@)"),
        ("x = 1#", " or ", "@"),
        ("s <> '1#'", " and ", "@"),
    ] {
        let found = within_limit(around, move || {
            let condition = around.replace('@', &listed(template, between, 100_000));
            ask_of(&rows(20_000), &format!("select x where {condition}")).rows()
        });
        assert_eq!(found, Some(10_000), "{template} {around}");
    }
}

#[test]
fn deep_expressions_are_refused() {
    for (before, inside, after) in [
        ("(", "x", ")"),
        ("not ", "x = 1", ""),
        ("- ", "x", ""),
        ("abs(", "x", ")"),
        ("case when x = 1 then 2 else ", "3", " end"),
        ("case ", "x", " when 1 then 2 end"),
        ("cast(", "x", " as bigint)"),
        ("", "x", "::bigint"),
        ("", "x", " is null"),
        ("", "x", " between 1 and 2"),
        ("x between 1 and ", "2", ""),
        ("", "x", " = x"),
        ("x in (", "x", ")"),
        ("", "s", " like 'x'"),
        ("", "s", " || s"),
        ("interval ", "'1' day", ""),
        ("exists (select ", "x", ")"),
    ] {
        let text = format!("select {}{inside}{}", before.repeat(10_000), after.repeat(10_000));
        let message = within_limit(before, move || Query::parse(&text).unwrap_err().to_string());
        let is_expected = ["nested deeper than 100", "more than 500 operators"].map(|text| message.contains(text));
        assert!(is_expected.contains(&true), "{before}{inside}{after}: {}", message.lines().next().unwrap_or_default());
    }
}

#[test]
fn what_is_compared_several_times_does_not_multiply() {
    let condition = |levels| format!("(x > 5){}", " between (x > 6) and (x > 6)".repeat(levels));
    let (short, long) = (format!("select x where {}", condition(7)), format!("select x where {}", condition(80)));
    let (found, message) = within_limit("between", move || {
        let refused = Query::parse(&long).unwrap().plan(&Record::schema()).unwrap_err();
        (ask(short).rows(), refused.to_string())
    });
    assert_eq!(found, Some(4));
    assert!(message.contains("too long for a comparison"), "{message}");
}

#[test]
fn the_default_question_is_planned_for_wide_tables() {
    let outputs = within_limit("5,000 columns", || {
        let columns: Vec<String> = (0..5000).map(|column| format!("c{column}:int64")).collect();
        let plan = Query::default().plan(&Schema::parse(&columns.join(",")).unwrap()).unwrap();
        let again = plan.scan_options().projection.len();
        assert_eq!(plan.states_of_outputs().len(), 15_000);
        assert_eq!(again, 5000);
        plan.columns().len()
    });
    assert_eq!(outputs, 15_000);
}
