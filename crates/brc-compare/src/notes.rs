//! Explains in the reports how the figures were measured.

use super::results::{Results, Sample};
use crate::quantity::{digits, time};

/// The notes common to all reports, as sentences.
pub(crate) fn notes(results: &Results) -> Vec<String> {
    let settings = &results.settings;
    let mut notes = vec![
        format!(
            "Every conversion, query and read is a separate process with {} threads, timed from start to exit, \
             without checking the answer.",
            settings.threads
        ),
        format!(
            "Per cell: conversions: {}, queries to warm up: {}, queries timed: {}. Figures are medians unless \
             stated otherwise.",
            settings.convert_runs,
            settings.warmup.max(1),
            settings.runs
        ),
        "Each answer was compared byte for byte with that of the input; a wrong answer counts as a failure.".to_owned(),
        "Conversions are timed without syncing the file to disk; it is synced before it is queried.".to_owned(),
        "Raw is the time to read the bytes of the same file in blocks of 256 KiB and nothing else: the lower \
         bound."
            .to_owned(),
        "Where the time goes was measured in separate runs, as the sum over all threads; the rest is starting, \
         planning, merging, sorting and printing."
            .to_owned(),
    ];
    notes.extend(empty_process(results));
    if let Some(mhz) = results.environment.mhz {
        notes.push(format!(
            "Cycles are not counted but computed: CPU time × {} MHz, the clock that the system reports, per byte of \
             the table as text. Size ratios refer to the same text.",
            digits(mhz)
        ));
    }
    notes.push(
        "Times and sizes that differ by less than 5 % count as equal, and so do times whose intervals overlap \
         (median ± 1.57 × interquartile range / √runs) if they differ by less than 50 %. All of them are marked as best; \
         the advice names the six smallest files of them, the smallest first."
            .to_owned(),
    );
    if settings.cold {
        notes.push("Cold means that the file was dropped from the page cache before each run.".to_owned());
    }
    notes.push(
        "With statistics: statistics stored in the file may answer the query, so that less of it, or none, is read. \
         Such lines are shown but not ranked."
            .to_owned(),
    );
    notes
}

/// The time of an empty process. Noise can only make it slower, so the fastest of several runs counts; and since every
/// query includes it, it is at most the time of the fastest query.
fn empty_process(results: &Results) -> Option<String> {
    let quickest = |samples: &[Sample]| samples.iter().map(|sample| sample.wall_ns).min();
    let empty = quickest(&results.empty_process)?;
    let times = results.tables.iter().flat_map(|table| {
        let cells = table.cells.iter().filter_map(|cell| cell.measurements()).map(|measured| &measured.times);
        table.as_it_is.iter().chain(cells)
    });
    let queries = times.flat_map(|times| [Some(&times.query), times.with_statistics.as_ref()]).flatten();
    let query = queries.filter_map(|query| quickest(&query.samples.warm)).min().unwrap_or(u64::MAX);
    let most = if query < empty { " at most" } else { "" };
    let shown = time(empty.min(query) as f64);
    Some(format!("A process that does nothing takes{most} {shown}; all times include that."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn an_empty_process_takes_no_longer_than_a_query() {
        let mut results = sample::results();
        // The fastest empty process takes 1.08 ms, longer than the fastest query with 1.03 ms.
        let note = empty_process(&results).unwrap();
        assert!(note.starts_with("A process that does nothing takes at most 1.03 ms;"), "{note}");
        for (sample, wall_ns) in results.empty_process.iter_mut().zip([90_000_000, 800_000, 900_000]) {
            sample.wall_ns = wall_ns;
        }
        let note = empty_process(&results).unwrap();
        assert!(note.starts_with("A process that does nothing takes 800 µs;"), "{note}");
    }
}
