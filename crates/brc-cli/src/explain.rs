//! What a query is going to do and what it did, for who wants to know why it takes as long as it does.

use crate::printable;
use crate::quantity::{bytes, count};
use brc_core::Table;
use brc_encodings::Encoding;
use brc_query::{Plan, ScanTotals};
use std::time::Duration;

/// Tells what will be done.
pub(crate) fn before(encoding: &dyn Encoding, table: &dyn Table, plan: &Plan) {
    let names = |columns: &[usize]| {
        let names: Vec<_> = columns.iter().map(|&column| plan.schema().fields()[column].name.as_str()).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    let list = |names: Vec<String>, none: &str| if names.is_empty() { none.to_owned() } else { names.join(", ") };
    let options = plan.scan_options();
    let size = table.bytes().map_or("a stream".to_owned(), bytes);
    tell("file", &format!("{}: {}, {size}", table.path().display(), encoding.name()));
    tell("columns", &plan.schema().to_string());
    tell("reads", &names(&options.projection));
    if let Some(filter) = plan.filter() {
        tell("where", filter);
    }
    if plan.is_grouped() {
        tell("groups by", &list(plan.keys(), "nothing: all rows are one group"));
        tell("computes", &list(plan.aggregates(), "only the groups"));
    }
    tell("statistics", if options.statistics || options.counts { "used to answer or skip rows" } else { "not used" });
}

fn tell(what: &str, text: &str) {
    message!("{what:<12}{}", printable::line(text.as_bytes()));
}

/// Tells what was done.
pub(crate) fn after(table: &dyn Table, totals: &ScanTotals) {
    let of = table.bytes().map_or(String::new(), |size| format!(" of {}", bytes(size)));
    message!("bytes read  {}{of}, in splits: {}", bytes(totals.bytes), count(totals.splits));
    message!("rows        read: {}", count(totals.rows));
    message!("            answered from statistics: {}", count(totals.summarised_rows));
    message!("            skipped: {}", count(totals.skipped_rows));
    let lanes: Vec<_> = totals.lanes.rows().map(|(lane, rows)| format!("{}: {}", lane.name(), count(rows))).collect();
    if !lanes.is_empty() {
        message!("rows by     {}", lanes.join(", "));
        message!("groups      {}", count(totals.groups));
    }
    if totals.spilled_bytes > 0 {
        message!("spilled     {}", bytes(totals.spilled_bytes));
    }
    #[cfg(feature = "stores")]
    tell_requests(brc_store::usage());
}

/// Tells what files in stores have cost since the program began.
#[cfg(feature = "stores")]
fn tell_requests(usage: brc_store::Usage) {
    if usage.requests > 0 {
        let (requests, fetched, needed) = (count(usage.requests), bytes(usage.fetched), bytes(usage.needed));
        message!("requests    {requests}, bytes fetched: {fetched}, needed: {needed}");
    }
}

/// Tells how long it took, without the stages that there were not: what is not compressed is not decompressed.
pub(crate) fn timings(totals: &ScanTotals, total: Duration) {
    let parts = [
        ("read", totals.read_time),
        ("decompress", totals.decompress_time),
        ("decode", totals.decode_time),
        ("aggregate", totals.aggregate_time),
        ("scan", totals.scan_time),
        ("merge", totals.regroup_time),
        ("sort", totals.sort_time),
        ("total", total),
    ];
    // What prints as nothing.
    const NOTHING: Duration = Duration::from_nanos(500);
    for (name, time) in parts.into_iter().filter(|(_, time)| *time >= NOTHING) {
        let threads = if ["scan", "merge", "sort", "total"].contains(&name) { "" } else { "  (all threads together)" };
        message!("{name:<10}{:>10.3} ms{threads}", time.as_secs_f64() * 1e3);
    }
}
