//! Long questions and wide tables: the time they take grows with their length, not with a power of it.

use super::memory::{Manner, MemoryTable, Record};
use crate::{Query, QueryResult};
use brc_core::{Progress, Schema};
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

fn rows() -> MemoryTable {
    let row = |place: i64| Record { s: vec![b'a' + place as u8], t: Vec::new(), x: place * 10, y: place };
    let manner = Manner { rows_in_split: 2, rows_in_batch: 2, runs: false, known_names: false };
    MemoryTable { schema: Record::schema(), rows: (0..4).map(row).collect(), manner }
}

fn ask(text: String) -> QueryResult {
    let query = Query::parse(&text).unwrap();
    query.ask(&rows(), 1, &Progress::default()).unwrap().1
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
            answer.columns().len()
        });
        assert_eq!(columns, 4000);
    }
}

#[test]
fn many_keys_are_grouped_by() {
    let rows = within_limit("keys", || {
        ask(format!("select {}, count(*) group by {}", listed("x + # as k#", ", ", 3000), listed("k#", ", ", 3000)))
            .len()
    });
    assert_eq!(rows, 4);
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
            within_limit(template, move || ask(format!("select x where {}", listed(template, between, 20_000))).len());
        assert_eq!(rows, expected, "{template}");
    }
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
