//! Reports progress and remaining time on the terminal.

use crate::printable;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;

/// Receives progress events; a step is one process.
pub(crate) trait Monitor {
    /// Adds steps to the total.
    fn plan(&mut self, steps: u64);

    /// Starts a table or a cell with the given number of steps.
    fn begin(&mut self, name: &str, steps: u64);

    /// Adds steps to the current table or cell.
    fn more_steps(&mut self, steps: u64);

    /// Starts a step.
    fn step(&mut self, stage: &'static str, run: u32);

    /// Ends the current table or cell, possibly before all of its steps.
    fn end(&mut self, failure: Option<&str>);
}

/// A progress bar on standard error, if that is a terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
    name: String,
    /// The position at the end of the current table or cell.
    end: u64,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("[{bar:20}] {percent:>3}%{left}  {wide_msg}")
            .map(|style| style.with_key("left", left));
        Self {
            bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())),
            name: String::new(),
            end: 0,
        }
    }
}

/// The remaining time, from the first completed step on.
fn left(state: &ProgressState, text: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        // Writing to this text does not fail.
        let _ = write!(text, ", {:#} to go", HumanDuration(state.eta()));
    }
}

impl Monitor for Bar {
    fn plan(&mut self, steps: u64) {
        self.bar.inc_length(steps);
    }

    fn begin(&mut self, name: &str, steps: u64) {
        self.name = printable::line(name.as_bytes()).into_owned();
        self.end = self.bar.position() + steps;
    }

    fn more_steps(&mut self, steps: u64) {
        self.bar.inc_length(steps);
        self.end += steps;
    }

    fn step(&mut self, stage: &'static str, run: u32) {
        self.bar.set_message(format!("{}: {stage} {}", self.name, run + 1));
        self.bar.inc(1);
    }

    fn end(&mut self, failure: Option<&str>) {
        if let Some(failure) = failure {
            self.bar.println(format!("{}: FAILED: {}", self.name, printable::line(failure.as_bytes())));
        }
        self.bar.set_position(self.end);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
