//! How figures came about, for whoever wants to know what they may conclude from them.

use super::results::Results;
use super::statistics::median;
use crate::quantity::{digits, time};

/// What all reports say about the measuring, in sentences.
pub(crate) fn notes(results: &Results) -> Vec<String> {
    let settings = &results.settings;
    let mut notes = vec![
        format!(
            "Every conversion, every query and every read is a process of its own with {} threads; its time counts from \
             before it is started until it has ended, but without checking the answer.",
            settings.threads
        ),
        format!(
            "Per cell: conversions: {}, queries to warm up: {}, queries timed: {}. A figure without further words is the \
             median.",
            settings.convert_runs,
            settings.warmup.max(1),
            settings.runs
        ),
        "Each answer was compared, byte for byte, with that of the input; a cell with a wrong answer fails and has no \
         times."
            .to_owned(),
        "Converting does not wait until the file is safe on the disk; the file is brought there before it is queried."
            .to_owned(),
        "Raw is reading the bytes of the same file in portions of 256 KiB and nothing else: the floor.".to_owned(),
        "Where the time goes was measured in runs of its own, as the sum over all threads; the rest is starting, planning, \
         merging, sorting and printing."
            .to_owned(),
    ];
    let empty: Vec<f64> = results.empty_process.iter().map(|sample| sample.wall_ns as f64).collect();
    if !empty.is_empty() {
        notes.push(format!("A process that does nothing takes {}; all times contain that.", time(median(&empty))));
    }
    if let Some(mhz) = results.environment.mhz {
        notes.push(format!(
            "Cycles are not counted but computed: time on processors × {} MHz, the clock that the system tells, for each \
             byte of the table as text. Ratios of size refer to the same text.",
            digits(mhz)
        ));
    }
    notes.push(
        "The advice takes times and sizes that differ by less than 5 % for equal, and lets something else decide: size, or \
         time."
            .to_owned(),
    );
    if settings.cold {
        notes.push("Cold means that the file was dropped from the page cache before each run.".to_owned());
    }
    notes.push(
        "With statistics: what the file keeps about its data may answer, so that less of it, or none, is read. Such \
                lines are shown but do not compete."
            .to_owned(),
    );
    notes
}
