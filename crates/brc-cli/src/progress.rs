//! Shows the progress of a run on the terminal: rows, bytes, speed and remaining time. Without a terminal nothing is
//! shown.

use crate::metrics;
use brc_core::{Progress, Table};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The total amount of work, if it is known.
#[derive(Clone, Copy)]
pub(crate) enum Total {
    Bytes(u64),
    Rows(u64),
    Unknown,
}

/// Runs `work`, and shows its progress if standard error is a terminal.
pub(crate) fn watch<T: Send>(progress: &Progress, total: Total, work: impl FnOnce() -> T + Send) -> T {
    let work = || metrics::follow(progress, work);
    if !std::io::stderr().is_terminal() {
        return work();
    }
    alongside(|end| show(progress, total, end), work)
}

/// Runs `work` while another thread runs `other`, which must return when the sender is dropped. If no thread can be
/// started, only the work is done.
pub(crate) fn alongside<T: Send>(other: impl FnOnce(&Receiver<()>) + Send, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let (done, end) = channel();
        let _ = std::thread::Builder::new().spawn_scoped(scope, move || other(&end));
        let result = work();
        drop(done);
        result
    })
}

/// Like [`watch`], for work that reads a table. The total is the number of rows if the table reports it, because rows
/// are counted while a row group is read; otherwise the number of bytes.
pub(crate) fn watch_table<T: Send>(progress: &Progress, table: &dyn Table, work: impl FnOnce() -> T + Send) -> T {
    let rows = table.rows().map(Total::Rows);
    watch(progress, rows.or(table.bytes().map(Total::Bytes)).unwrap_or(Total::Unknown), work)
}

/// Shows progress until it is dropped, if standard error is a terminal.
pub struct Shown {
    /// Dropping it ends the display.
    end: Option<Sender<()>>,
    showing: Option<JoinHandle<()>>,
}

impl Shown {
    /// Starts the display, for an unknown total.
    #[must_use]
    pub fn new(progress: Arc<Progress>) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { end: None, showing: None };
        }
        let (done, end) = channel();
        let showing = std::thread::Builder::new().spawn(move || show(&progress, Total::Unknown, &end));
        Self { end: Some(done), showing: showing.ok() }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.end = None;
        // Wait, so that nothing is shown after the caller prints.
        let _ = self.showing.take().map(JoinHandle::join);
    }
}

/// The time before progress is shown.
const DELAY: Duration = Duration::from_millis(300);
const PERIOD: Duration = Duration::from_millis(100);

fn show(progress: &Progress, total: Total, end: &Receiver<()>) {
    let (start, mut estimate) = (Instant::now(), Estimate::default());
    if end.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(length(total), ProgressDrawTarget::stderr())
        .with_style(style(total))
        .with_elapsed(DELAY);
    while end.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
        let done = Done::of(progress);
        let elapsed = start.elapsed();
        let speed = done.bytes as f64 / elapsed.as_secs_f64().max(0.001) / 1e6;
        let left = total.share(done).and_then(|share| estimate.left(elapsed, share));
        let left = left.map(|left| format!(", {:#} to go", HumanDuration(left))).unwrap_or_default();
        bar.set_message(format!(
            "{} rows, {}, {speed:.0} MB/s{left}",
            crate::quantity::count(done.rows),
            crate::quantity::bytes(done.bytes)
        ));
        bar.set_position(match total {
            Total::Rows(total) => done.rows.min(total),
            Total::Bytes(total) => done.bytes.min(total),
            Total::Unknown => done.bytes,
        });
    }
    bar.finish_and_clear();
}

/// The work done so far.
#[derive(Clone, Copy)]
struct Done {
    rows: u64,
    bytes: u64,
}

impl Done {
    /// Bytes are counted per finished split; those of unfinished splits are estimated from their rows.
    fn of(progress: &Progress) -> Self {
        let [rows, whole, bytes] =
            [&progress.rows, &progress.whole_rows, &progress.bytes].map(|counter| counter.load(Relaxed));
        let of_others = if whole == 0 { 0.0 } else { rows.saturating_sub(whole) as f64 * bytes as f64 / whole as f64 };
        Self { rows, bytes: bytes.saturating_add(of_others as u64) }
    }
}

impl Total {
    /// The share of the work that is done.
    fn share(self, done: Done) -> Option<f64> {
        let (part, total) = match self {
            Self::Rows(total) => (done.rows, total),
            Self::Bytes(total) => (done.bytes, total),
            Self::Unknown => return None,
        };
        (total > 0).then(|| (part as f64 / total as f64).min(1.0))
    }
}

/// Estimates the remaining time from the speed since the first progress; opening files does not count.
#[derive(Default)]
struct Estimate {
    /// The time and share of the first progress; then the latest share.
    first: Option<(Duration, f64)>,
    latest: f64,
}

impl Estimate {
    /// The remaining time when `share` of the work is done after `elapsed`; `None` if it is not known yet.
    fn left(&mut self, elapsed: Duration, share: f64) -> Option<Duration> {
        // A table is read again from its start if its types widen. Rows of a split that is read twice count twice until
        // it is done, so the share may also shrink slightly.
        if share < self.latest / 2.0 {
            self.first = None;
        }
        self.latest = share;
        if share <= 0.0 {
            return None;
        }
        let (begun, first) = *self.first.get_or_insert((elapsed, share));
        let speed = (share - first) / elapsed.saturating_sub(begun).as_secs_f64();
        (speed > 0.0 && speed.is_finite()).then(|| Duration::from_secs_f64(((1.0 - share) / speed).min(1e9)))
    }
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
        Total::Bytes(_) | Total::Rows(_) => "[{bar:20}] {percent:>3}% {msg}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The remaining time estimated after a tenth of the work, divided by the true one, on a simulated clock: the work
    /// begins after `delay` seconds, takes `seconds`, and progresses in steps of `step`.
    fn after_a_tenth(delay: f64, seconds: f64, step: f64, wobble: f64) -> f64 {
        let mut estimate = Estimate::default();
        let mut time = 0.0;
        loop {
            time += 0.1;
            let share = ((time - delay).max(0.0) / seconds / step).floor() * step;
            let share = (share * (1.0 + wobble * (time * 7.0).sin())).clamp(0.0, 1.0);
            let left = estimate.left(Duration::from_secs_f64(time), share);
            if share >= 0.1 {
                return left.unwrap().as_secs_f64() / (delay + seconds - time);
            }
        }
    }

    #[test]
    fn remaining_time_is_estimated_after_a_tenth_of_the_work() {
        for (delay, seconds, step, wobble) in [
            (0.0, 10.0, 1e-6, 0.0),
            (3.0, 20.0, 1e-6, 0.0),
            (0.0, 1000.0, 0.01, 0.0),
            (5.0, 60.0, 0.005, 0.02),
            (0.5, 300.0, 1e-6, 0.05),
        ] {
            let ratio = after_a_tenth(delay, seconds, step, wobble);
            assert!((0.7..1.3).contains(&ratio), "{ratio} for {delay} s and {seconds} s in steps of {step}");
        }
    }

    #[test]
    fn the_estimate_restarts_with_the_work() {
        let mut estimate = Estimate::default();
        let seconds = Duration::from_secs;
        assert_eq!(estimate.left(seconds(1), 0.0), None);
        assert_eq!(estimate.left(seconds(2), 0.5), None);
        assert_eq!(estimate.left(seconds(3), 0.75), Some(seconds(1)));
        assert_eq!(estimate.left(seconds(13), 0.1), None);
        assert_eq!(estimate.left(seconds(14), 0.2), Some(seconds(8)));
    }

    #[test]
    fn bytes_of_unfinished_splits_are_estimated() {
        let progress = Progress::default();
        progress.rows.store(1500, Relaxed);
        progress.whole_rows.store(1000, Relaxed);
        progress.bytes.store(40_000, Relaxed);
        let done = Done::of(&progress);
        assert_eq!((done.rows, done.bytes), (1500, 60_000));
        assert_eq!(Total::Bytes(120_000).share(done), Some(0.5));
        assert_eq!(Total::Rows(3000).share(done), Some(0.5));
        assert_eq!(Total::Bytes(10).share(done), Some(1.0));
    }
}
