//! Formats the results for a terminal: encodings as rows, and as many compressions side by side as fit.

use super::advice::advise;
use super::best::{Measure, convert, is_best_of_column, query, size};
use super::markdown::mean;
use super::results::Outcome;
use super::view::{Line, View};
use crate::printable;
use crate::quantity::{bytes, digits, time};
use std::borrow::Cow;

/// The capabilities of the terminal.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// The width in columns.
    pub width: usize,
    /// Whether it supports colours.
    pub colour: bool,
}

const LABEL: usize = 18;
const FIGURE: usize = 8;
const BAR: usize = 6;
/// The width of one compression: size, conversion time, query time, a bar, and the spaces between.
const GROUP: usize = 3 * (FIGURE + 1) + BAR + 2;

const BOLD: &str = "\x1b[1;32m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

/// Formats the results of one table.
pub(crate) fn render(view: &View<'_>, screen: Screen) -> String {
    let facts = view.facts;
    let mut text = format!(
        "{}: {}, {} as {}, {} as text\n",
        printable(view.table_name()),
        view.rows(),
        bytes(facts.bytes),
        facts.encoding,
        bytes(facts.text_bytes)
    );
    if let Some(query) = view.query_text() {
        text.push_str(&format!("query: {}\n", printable(&query)));
    }
    let raw = &view.input.raw;
    text.push_str(&format!(
        "the input itself: raw read {}, query {}\n",
        time(raw.median),
        time(view.input.query.median)
    ));
    let compressions = &view.results.settings.compressions;
    let across = (screen.width.saturating_sub(LABEL) / GROUP).max(1);
    for compressions in compressions.chunks(across) {
        text.push('\n');
        text.push_str(&matrix(view, compressions, screen));
    }
    text.push_str(&sweet_spots(view, screen));
    for (name, failed, reason) in view.blanks() {
        let (what, colour) = if failed { ("FAILED", RED) } else { ("–", DIM) };
        text.push_str(&paint(&format!("{what} {name}: {}", printable(reason)), colour, screen));
        text.push('\n');
    }
    for warning in view.warnings() {
        text.push_str(&format!("! {warning}\n"));
    }
    text
}

fn matrix(view: &View<'_>, compressions: &[String], screen: Screen) -> String {
    let mut names = " ".repeat(LABEL);
    let mut heads = " ".repeat(LABEL);
    for compression in compressions {
        names.push_str(&format!("  {compression:─^width$}", width = GROUP - 2));
        heads.push_str(&format!("  {:>FIGURE$} {:>FIGURE$} {:>FIGURE$} {:BAR$}", "size", "convert", "query", ""));
    }
    let mut text = format!("{}\n{}\n", names.trim_end(), heads.trim_end());
    let slowest = view.reading().map(|line| line.query.median).fold(0.0, f64::max);
    for (encoding, statistics) in view.matrix_rows() {
        let label = if statistics { " with statistics".to_owned() } else { encoding.to_owned() };
        let mut row = format!("{label:LABEL$.LABEL$}");
        for compression in compressions {
            row.push_str("  ");
            row.push_str(&match (view.line(encoding, compression, statistics), view.outcome(encoding, compression)) {
                (Some(line), _) => group(view, line, slowest, screen),
                (None, Some(Outcome::Failed { .. })) => pad(&paint("FAILED", RED, screen), "FAILED"),
                (None, _) => pad(&paint("–", DIM, screen), "–"),
            });
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// Pads text that replaces the figures of a group; `bare` is the text without colours.
fn pad(shown: &str, bare: &str) -> String {
    let left = FIGURE.saturating_sub(bare.chars().count());
    format!("{}{shown}{}", " ".repeat(left), " ".repeat(GROUP - 2 - FIGURE))
}

fn group(view: &View<'_>, line: &Line<'_>, slowest: f64, screen: Screen) -> String {
    let best = |measure: Measure| is_best_of_column(line, view.reading(), measure);
    let figure = |text: String, is_best: bool| {
        // The mark replaces the space after the figure, so that figures stay aligned.
        let mark = if is_best { "*" } else { " " };
        let text = format!("{text:>FIGURE$}{mark}");
        if is_best { paint(&text, BOLD, screen) } else { text }
    };
    let size_and_convert = if line.statistics {
        " ".repeat(2 * (FIGURE + 1))
    } else {
        figure(bytes(line.bytes), best(size)) + &figure(time(convert(line).value), best(convert))
    };
    let bar = bar(line.query.median, slowest);
    format!("{size_and_convert}{}{}", figure(time(line.query.median), best(query)), paint(&bar, DIM, screen))
}

/// A bar in eighths of a character, in proportion to `full`.
fn bar(value: f64, full: f64) -> String {
    const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (value / full.max(1.0) * (BAR * 8) as f64).round().clamp(1.0, (BAR * 8) as f64) as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|part| EIGHTHS[part]));
    let width = bar.chars().count();
    bar + &" ".repeat(BAR.saturating_sub(width))
}

fn sweet_spots(view: &View<'_>, screen: Screen) -> String {
    let Some(advice) = advise(view) else { return "\nEvery measurement failed.\n".to_owned() };
    let mut text = String::from("\n* best in its column, or within measurement error of it   bar: query time\n\n");
    text.push_str("Pareto front of size and query time: no other file is both smaller and faster\n");
    text.push_str(&front(view, &advice.query_front, screen));
    let names: Vec<String> = advice.convert_front.iter().map(|line| line.name()).collect();
    text.push_str(&wrap(&format!("Pareto front of size and time to convert: {}", names.join(", ")), "  ", screen));
    text.push('\n');
    for pick in &advice.picks {
        let bare = format!("{}: {} {}.", pick.purpose, pick.name, pick.sentence);
        let start = format!("{}: {}", pick.purpose, pick.name);
        let wrapped = wrap(&bare, "  ", screen);
        match wrapped.strip_prefix(&start) {
            Some(rest) => {
                text.push_str(&format!("{}: {}{rest}", pick.purpose, paint(&pick.name, BOLD, screen)));
            }
            None => text.push_str(&wrapped),
        }
    }
    text.push('\n');
    for first in &advice.firsts {
        text.push_str(&wrap(first, "  ", screen));
    }
    text
}

/// The lines of the Pareto front, with all columns or those that fit.
fn front(view: &View<'_>, lines: &[&Line<'_>], screen: Screen) -> String {
    const MIN_WIDTH_FOR_ALL: usize = 100;
    let row = |cells: [String; 9]| {
        let [name, size, ratio, convert, query, over, rows, cycles, memory] = cells;
        let more = format!(" {over:>6} {rows:>8} {cycles:>8}");
        let (convert, more) =
            if screen.width < MIN_WIDTH_FOR_ALL { Default::default() } else { (format!("{convert:>FIGURE$} "), more) };
        format!("  {name:LABEL$} {size:>FIGURE$} {ratio:>6} {convert}{query:>18}{more} {memory:>FIGURE$}\n")
    };
    let heads = ["", "size", "ratio", "convert", "query, mean ± 95 %", "× raw", "M rows/s", "cycles/B", "memory"];
    let mut text = row(heads.map(str::to_owned));
    for line in lines {
        text.push_str(&row([
            line.name(),
            bytes(line.bytes),
            view.ratio(line).map_or("–".to_owned(), digits),
            line.convert.map_or("–".to_owned(), |convert| time(convert.median)),
            mean(&line.query),
            digits(line.over_floor()),
            digits(view.million_rows(line)),
            view.cycles(line).map_or("–".to_owned(), digits),
            line.peak_memory.map_or("–".to_owned(), bytes),
        ]));
    }
    text
}

fn paint(text: &str, colour: &str, screen: Screen) -> String {
    if screen.colour { format!("{colour}{text}{PLAIN}") } else { text.to_owned() }
}

/// Wraps a sentence to the screen width, indenting all lines but the first.
fn wrap(sentence: &str, indent: &str, screen: Screen) -> String {
    let (mut text, mut line) = (String::new(), String::new());
    for word in sentence.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > screen.width {
            text.push_str(&line);
            text.push('\n');
            line = indent.to_owned();
        } else if !line.is_empty() && line != indent {
            line.push(' ');
        }
        line.push_str(word);
    }
    format!("{text}{line}\n")
}

fn printable(text: &str) -> Cow<'_, str> {
    printable::line(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: usize, colour: bool) -> String {
        let results = crate::sample::results();
        let view = View::new(&results, &results.tables[0]).unwrap();
        render(&view, Screen { width, colour })
    }

    #[test]
    fn the_sample_matches_its_snapshot() {
        insta::assert_snapshot!("terminal-120", shown(120, false));
        insta::assert_snapshot!("terminal-60", shown(60, false));
    }

    #[test]
    fn colours_do_not_change_the_text() {
        let mut bare = shown(120, true);
        assert!(bare.contains(BOLD));
        for colour in [BOLD, DIM, RED, PLAIN] {
            bare = bare.replace(colour, "");
        }
        let trim = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(trim(&bare), trim(&shown(120, false)));
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        for width in [100, 120, 200] {
            for line in shown(width, false).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn bars_are_in_proportion() {
        assert_eq!(bar(1.0, 1.0), "██████");
        assert_eq!(bar(0.5, 1.0), "███   ");
        assert_eq!(bar(0.0, 1.0), "▏     ");
        assert_eq!(bar(0.25, 1.0), "█▌    ");
    }
}
