//! How far a run is, for whoever looks at the terminal: rows, bytes, speed, time to go. Anywhere else, nothing.

use crate::metrics;
use brc_core::{Progress, Table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// What a run's end is known by.
#[derive(Clone, Copy)]
pub(crate) enum Total {
    Bytes(u64),
    Rows(u64),
    Unknown,
}

/// Does `work`, and shows how far it is if standard error is a terminal.
pub(crate) fn watch<T: Send>(progress: &Progress, total: Total, work: impl FnOnce() -> T + Send) -> T {
    let work = || metrics::follow(progress, work);
    if !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (done, end) = channel::<()>();
        // Without a thread the work is done all the same.
        let _ = std::thread::Builder::new().spawn_scoped(scope, move || show(progress, total, &end));
        let result = work();
        drop(done);
        result
    })
}

/// The same for work that reads a table.
pub(crate) fn watch_table<T: Send>(progress: &Progress, table: &dyn Table, work: impl FnOnce() -> T + Send) -> T {
    watch(progress, table.bytes().map_or(Total::Unknown, Total::Bytes), work)
}

/// Quick runs show nothing.
const PATIENCE: Duration = Duration::from_millis(300);
const PERIOD: Duration = Duration::from_millis(100);

fn show(progress: &Progress, total: Total, end: &Receiver<()>) {
    if end.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(length(total), ProgressDrawTarget::stderr())
        .with_style(style(total))
        .with_elapsed(PATIENCE);
    while end.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
        let (rows, bytes) = (progress.rows.load(Relaxed), progress.bytes.load(Relaxed));
        let speed = bytes as f64 / bar.elapsed().as_secs_f64().max(0.001) / 1e6;
        bar.set_message(format!(
            "{} rows, {}, {speed:.0} MB/s",
            crate::quantity::count(rows),
            crate::quantity::bytes(bytes)
        ));
        bar.set_position(if matches!(total, Total::Rows(_)) { rows } else { bytes });
    }
    bar.finish_and_clear();
}

fn length(total: Total) -> Option<u64> {
    match total {
        Total::Bytes(total) | Total::Rows(total) => Some(total),
        Total::Unknown => None,
    }
}

fn style(total: Total) -> ProgressStyle {
    let template = match total {
        Total::Unknown => "{spinner} {msg}, {elapsed}",
        Total::Bytes(_) | Total::Rows(_) => "[{bar:20}] {percent:>3}% {msg}, {eta} to go",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
