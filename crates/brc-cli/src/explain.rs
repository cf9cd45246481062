//! Prints what a query will do and what it did, to explain its running time.

use crate::printable;
use crate::quantity::{bytes, count};
use brc_core::Table;
use brc_encodings::Encoding;
use brc_query::{Plan, ScanTotals};
use std::time::Duration;

/// Prints the plan of a query.
pub(crate) fn before(encoding: &dyn Encoding, table: &dyn Table, plan: &Plan) {
    let names = |columns: &[usize]| {
        let names: Vec<_> = columns.iter().map(|&column| plan.schema().fields()[column].name.as_str()).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    let list = |names: Vec<String>, none: &str| if names.is_empty() { none.to_owned() } else { names.join(", ") };
    let options = plan.scan_options();
    let size = table.bytes().map_or("a stream".to_owned(), bytes);
    print("file", &format!("{}: {}, {size}", table.path().display(), encoding.name()));
    print("columns", &plan.schema().to_string());
    print("reads", &names(&options.projection));
    if let Some(filter) = plan.filter() {
        print("where", filter);
    }
    if plan.is_grouped() {
        print("groups by", &list(plan.keys(), "nothing: all rows are one group"));
        print("computes", &list(plan.aggregates(), "only the groups"));
    }
    print("statistics", if options.statistics || options.counts { "may answer or skip rows" } else { "not used" });
}

fn print(what: &str, text: &str) {
    message!("{what:<12}{}", printable::line(text.as_bytes()));
}

/// Prints the totals of a scan.
pub(crate) fn after(table: &dyn Table, totals: &ScanTotals) {
    let of = table.bytes().map_or(String::new(), |size| format!(" of {}", bytes(size)));
    let unfinished = match totals.unfinished_splits {
        0 => String::new(),
        splits => format!("; not counting splits that the limit ended: {}", count(splits)),
    };
    message!("bytes read  {}{of}, in splits: {}{unfinished}", bytes(totals.bytes), count(totals.splits));
    message!("rows        read: {}", count(totals.rows));
    message!("            answered from statistics: {}", count(totals.summarised_rows));
    message!("            skipped: {}", count(totals.skipped_rows));
    let access_paths: Vec<_> = totals
        .access_paths
        .rows()
        .map(|(access_path, rows)| format!("{}: {}", access_path.name(), count(rows)))
        .collect();
    if !access_paths.is_empty() {
        message!("rows by     {}", access_paths.join(", "));
        message!("groups      {}", count(totals.groups));
    }
    if totals.spilled_bytes > 0 {
        message!("spilled     {}", bytes(totals.spilled_bytes));
    }
    #[cfg(feature = "stores")]
    print_requests(brc_store::usage());
}

/// Prints the requests to object stores since the start of the program.
#[cfg(feature = "stores")]
fn print_requests(usage: brc_store::Usage) {
    if usage.requests > 0 {
        let (requests, fetched, needed) = (count(usage.requests), bytes(usage.fetched), bytes(usage.needed));
        message!("requests    {requests}, bytes fetched: {fetched}, needed: {needed}");
    }
}

/// Prints the times of all stages that took place.
pub(crate) fn timings(totals: &ScanTotals, total: Duration) {
    let parts = [
        ("read", totals.read_time),
        ("decompress", totals.decompress_time),
        ("decode", totals.decode_time),
        ("aggregate", totals.aggregate_time),
        ("scan", totals.scan_time),
        ("merge", totals.merge_time),
        ("sort", totals.sort_time),
        ("total", total),
    ];
    // The smallest time that does not print as zero.
    const SMALLEST: Duration = Duration::from_nanos(500);
    for (name, time) in parts.into_iter().filter(|(_, time)| *time >= SMALLEST) {
        let threads = if ["scan", "merge", "sort", "total"].contains(&name) { "" } else { "  (all threads together)" };
        message!("{name:<10}{:>10.3} ms{threads}", time.as_secs_f64() * 1e3);
    }
}
