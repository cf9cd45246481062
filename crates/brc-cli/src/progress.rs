//! How far a run is, for whoever looks at the terminal: rows, bytes, speed, time to go. Anywhere else, nothing.

use crate::metrics;
use brc_core::{Progress, Table};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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

/// The same for work that reads a table: by its rows where it tells how many there are, for those are counted while a row
/// group is read; else by its bytes.
pub(crate) fn watch_table<T: Send>(progress: &Progress, table: &dyn Table, work: impl FnOnce() -> T + Send) -> T {
    let rows = table.rows().map(Total::Rows);
    watch(progress, rows.or(table.bytes().map(Total::Bytes)).unwrap_or(Total::Unknown), work)
}

/// Shows how far work is until it is dropped, if standard error is a terminal.
pub struct Shown {
    /// Whoever shows it ends when this is gone.
    end: Option<Sender<()>>,
    showing: Option<JoinHandle<()>>,
}

impl Shown {
    /// Begins; how much work there is in all is not known.
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
        // It shows nothing any more when others print.
        let _ = self.showing.take().map(JoinHandle::join);
    }
}

/// Quick runs show nothing.
const PATIENCE: Duration = Duration::from_millis(300);
const PERIOD: Duration = Duration::from_millis(100);

fn show(progress: &Progress, total: Total, end: &Receiver<()>) {
    let (start, mut estimate) = (Instant::now(), Estimate::default());
    if end.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(length(total), ProgressDrawTarget::stderr())
        .with_style(style(total))
        .with_elapsed(PATIENCE);
    while end.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
        let seen = Seen::of(progress);
        let elapsed = start.elapsed();
        let speed = seen.bytes as f64 / elapsed.as_secs_f64().max(0.001) / 1e6;
        let left = total.share(seen).and_then(|share| estimate.left(elapsed, share));
        let left = left.map(|left| format!(", {:#} to go", HumanDuration(left))).unwrap_or_default();
        bar.set_message(format!(
            "{} rows, {}, {speed:.0} MB/s{left}",
            crate::quantity::count(seen.rows),
            crate::quantity::bytes(seen.bytes)
        ));
        bar.set_position(match total {
            Total::Rows(total) => seen.rows.min(total),
            Total::Bytes(total) => seen.bytes.min(total),
            Total::Unknown => seen.bytes,
        });
    }
    bar.finish_and_clear();
}

/// What was read so far.
#[derive(Clone, Copy)]
struct Seen {
    rows: u64,
    bytes: u64,
}

impl Seen {
    /// Bytes are known of splits that are done; rows of the others take as many as those did.
    fn of(progress: &Progress) -> Self {
        let [rows, whole, bytes] =
            [&progress.rows, &progress.whole_rows, &progress.bytes].map(|counter| counter.load(Relaxed));
        let of_others = if whole == 0 { 0.0 } else { rows.saturating_sub(whole) as f64 * bytes as f64 / whole as f64 };
        Self { rows, bytes: bytes.saturating_add(of_others as u64) }
    }
}

impl Total {
    /// Which share of the work is done.
    fn share(self, seen: Seen) -> Option<f64> {
        let (done, total) = match self {
            Self::Rows(total) => (seen.rows, total),
            Self::Bytes(total) => (seen.bytes, total),
            Self::Unknown => return None,
        };
        (total > 0).then(|| (done as f64 / total as f64).min(1.0))
    }
}

/// How long the rest takes, by the speed since work was first seen to be done: opening files is no part of it.
#[derive(Default)]
struct Estimate {
    /// When some of the work was done first, and which share; the latest share.
    first: Option<(Duration, f64)>,
    latest: f64,
}

impl Estimate {
    /// The time left when this share of the work is done after so long a time; `None` while nobody can tell.
    fn left(&mut self, elapsed: Duration, share: f64) -> Option<Duration> {
        // A table whose types turned out wider is read again, from its start. Rows of a split that is read twice count
        // twice until it is done: the share may also shrink a little.
        if share < self.latest / 2.0 {
            self.first = None;
        }
        self.latest = share;
        if share <= 0.0 {
            return None;
        }
        let (begun, done) = *self.first.get_or_insert((elapsed, share));
        let speed = (share - done) / elapsed.saturating_sub(begun).as_secs_f64();
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

    /// What is estimated after a tenth of the work, in relation to what is left, by a clock that is made up: the work begins
    /// after `delay` seconds, takes `seconds`, and is seen in steps of `step` of it.
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
    fn a_tenth_of_the_work_tells_how_long_the_rest_takes() {
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
    fn work_that_begins_again_is_estimated_anew() {
        let mut estimate = Estimate::default();
        let seconds = Duration::from_secs;
        assert_eq!(estimate.left(seconds(1), 0.0), None);
        assert_eq!(estimate.left(seconds(2), 0.5), None);
        assert_eq!(estimate.left(seconds(3), 0.75), Some(seconds(1)));
        assert_eq!(estimate.left(seconds(13), 0.1), None);
        assert_eq!(estimate.left(seconds(14), 0.2), Some(seconds(8)));
    }

    #[test]
    fn rows_of_unfinished_splits_count_for_bytes() {
        let progress = Progress::default();
        progress.rows.store(1500, Relaxed);
        progress.whole_rows.store(1000, Relaxed);
        progress.bytes.store(40_000, Relaxed);
        let seen = Seen::of(&progress);
        assert_eq!((seen.rows, seen.bytes), (1500, 60_000));
        assert_eq!(Total::Bytes(120_000).share(seen), Some(0.5));
        assert_eq!(Total::Rows(3000).share(seen), Some(0.5));
        assert_eq!(Total::Bytes(10).share(seen), Some(1.0));
    }
}
