//! Tells how far a comparison is, and how long it will take, to whoever looks at the terminal.

use crate::printable;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;

/// Hears of every step of a comparison, a step being a process.
pub(crate) trait Monitor {
    /// So many steps more will be taken in all.
    fn plan(&mut self, steps: u64);

    /// Something begins that takes so many of them.
    fn begin(&mut self, name: &str, steps: u64);

    /// It will take more than that.
    fn more_steps(&mut self, steps: u64);

    /// A step of it begins.
    fn step(&mut self, stage: &'static str, run: u32);

    /// It has ended, perhaps early.
    fn end(&mut self, failure: Option<&str>);
}

/// A bar on standard error, if that is a terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
    name: String,
    /// Where the bar will be when what goes on has ended.
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

/// How long it will take, as soon as anybody can tell.
fn left(state: &ProgressState, text: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        // The text takes all that is written.
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
