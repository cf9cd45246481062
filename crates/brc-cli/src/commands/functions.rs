//! `brc functions`: lists all functions with examples, from the tables used to bind queries.

use crate::stdout;
use brc_query::{AGGREGATES, CONSTRUCTS, Construct, EXAMPLE_TABLE, FUNCTIONS, Function, OPERATORS};
use std::fmt::Write;
use std::sync::LazyLock;

// The list is the long help, so that `brc help functions` and the manual page show it too.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, after_long_help = LONG_HELP.as_str())]
pub(crate) struct Args {}

const AFTER_HELP: &str = "\
Examples:
  brc functions | less
  brc query sales.csv \"select city, sum(price), max_by(day, price) group by city\"";

static LONG_HELP: LazyLock<String> = LazyLock::new(|| format!("{}\n{AFTER_HELP}", list()));

pub(crate) fn run(_: &Args) -> anyhow::Result<()> {
    Ok(stdout::print(list().as_bytes())?)
}

/// An entry of the list: usage, description, and an example expression with its value.
struct Entry {
    usage: String,
    about: &'static str,
    example: (&'static str, &'static str),
}

impl From<&&'static Function> for Entry {
    fn from(function: &&'static Function) -> Self {
        Self { usage: function.usage.to_owned(), about: function.about, example: function.example }
    }
}

impl From<&Construct> for Entry {
    fn from(construct: &Construct) -> Self {
        Self { usage: construct.usage.to_owned(), about: construct.about, example: construct.example }
    }
}

fn list() -> String {
    let mut out = "Aggregates, with examples over this table:\n\n".to_owned();
    for line in EXAMPLE_TABLE.lines() {
        push(&mut out, format_args!("    {line}\n"));
    }
    let aggregates = AGGREGATES.iter().map(|it| Entry { usage: it.usage(), about: it.about, example: it.example });
    aggregates.for_each(|entry| entry.write(&mut out));
    out.push_str("\nFunctions:\n");
    FUNCTIONS.iter().map(Entry::from).for_each(|entry| entry.write(&mut out));
    out.push_str("\nOperators:\n");
    OPERATORS.iter().map(Entry::from).for_each(|entry| entry.write(&mut out));
    out.push_str("\nConditions, choices and casts:\n");
    CONSTRUCTS.iter().map(Entry::from).for_each(|entry| entry.write(&mut out));
    out
}

impl Entry {
    fn write(&self, out: &mut String) {
        let Self { usage, about, example: (expression, value) } = self;
        push(out, format_args!("\n  {usage}\n    {about}\n    {expression} → {value}\n"));
    }
}

/// Appends to a string, which cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}
