//! `README.md`: the results as Markdown tables.

use super::advice::{Advice, advise};
use super::best::{Measure, cold_query, convert, is_best_of_column, query, size};
use super::results::{Outcome, Results};
use super::statistics::Summary;
use super::view::{Line, View};
use crate::quantity::{bytes, digits, rows, time};
use brc_core::Schema;

/// The whole report.
pub(crate) fn render(results: &Results, views: &[View<'_>]) -> String {
    let mut text = String::from("# brc compare\n\n");
    for (label, fact) in results.environment.facts() {
        text.push_str(&format!("- {label}: {fact}\n"));
    }
    text.push_str(&format!("- Started: {}\n- Command: {}\n", results.started, code(&results.command)));
    for view in views {
        text.push_str(&section(view));
    }
    text.push_str("\n## How it was measured\n\n");
    for note in super::notes::notes(results) {
        text.push_str(&format!("- {note}\n"));
    }
    text
}

fn section(view: &View<'_>) -> String {
    let facts = view.facts;
    let (rows, groups) = (view.rows(), rows(facts.groups));
    let mut text = format!(
        "\n## {}\n\n{rows}, {} as {}, {} as text{}; the answer has {groups}.\n\n",
        escape(view.table_name()),
        bytes(facts.bytes),
        facts.encoding,
        bytes(facts.text_bytes),
        view.query_text().map(|query| format!("; query: {}", escape(&query))).unwrap_or_default(),
    );
    text.push_str(&columns(&facts.schema));
    if let Some(advice) = advise(view) {
        text.push_str(&sweet_spots(&advice));
    }
    for warning in view.warnings() {
        text.push_str(&format!("\n> {warning}\n"));
    }
    for (title, with_statistics, figure) in matrices(view) {
        text.push_str(&format!("\n### {title}\n\n{}", matrix(view, with_statistics, figure)));
    }
    text.push_str(&format!("\n### All figures\n\nThe table is wide; scroll to the right.\n\n{}", all_figures(view)));
    let blanks = view.blanks();
    if !blanks.is_empty() {
        text.push_str("\n### Cells without figures\n\n");
        for (name, failed, reason) in blanks {
            let what = if failed { "**FAILED**" } else { "not possible" };
            text.push_str(&format!("- {name}: {what}: {}\n", escape(reason)));
        }
    }
    text
}

fn columns(schema: &Schema) -> String {
    let mut text = String::from("| column | type |\n|---|---|\n");
    for field in schema.fields() {
        let not_null = if field.nullable { "" } else { " not null" };
        text.push_str(&format!("| {} | {}{not_null} |\n", escape(&field.name), field.logical_type));
    }
    text.push('\n');
    text
}

fn sweet_spots(advice: &Advice<'_, '_>) -> String {
    let mut text = String::new();
    for pick in &advice.picks {
        text.push_str(&format!("- {}: **{}** {}.\n", pick.purpose, pick.name, pick.sentence));
    }
    let names = |front: &[&Line<'_>]| front.iter().map(|line| line.name()).collect::<Vec<_>>().join(", ");
    text.push_str(&format!("\nPareto front of size and query time: {}.  \n", names(&advice.query_front)));
    text.push_str(&format!("Pareto front of size and time to convert: {}.\n\n", names(&advice.convert_front)));
    text.push_str(&advice.firsts.join(" "));
    text.push('\n');
    text
}

/// The measure of a matrix and its formatter.
type Shown = (Measure, fn(&Line<'_>) -> String);

/// The matrices: title, whether lines with statistics have figures of their own, and the figure shown.
fn matrices(view: &View<'_>) -> Vec<(&'static str, bool, Shown)> {
    let mut matrices: Vec<(&'static str, bool, Shown)> = vec![
        ("Size", false, (size, |line| bytes(line.bytes))),
        ("Query, warm", true, (query, |line| time(line.query.median))),
    ];
    if view.lines.iter().any(|line| line.cold.is_some()) {
        let shown = |line: &Line<'_>| line.cold.map_or("–".to_owned(), |cold| time(cold.query.median));
        matrices.push(("Query, cold", true, (cold_query, shown)));
    }
    let shown = |line: &Line<'_>| line.convert.map_or("–".to_owned(), |convert| time(convert.median));
    matrices.push(("Convert", false, (convert, shown)));
    matrices
}

/// Encodings × compressions. Lines with statistics are shown only if `with_statistics` is set. The best figures of each
/// column are bold; lines with statistics are not ranked.
fn matrix(view: &View<'_>, with_statistics: bool, (measure, show): Shown) -> String {
    let compressions = &view.results.settings.compressions;
    let mut text = format!("| | {} |\n|---|{}\n", compressions.join(" | "), "---:|".repeat(compressions.len()));
    for (encoding, statistics) in view.matrix_rows() {
        if statistics && !with_statistics {
            continue;
        }
        let label = if statistics { format!("{encoding}, with statistics") } else { encoding.to_owned() };
        text.push_str(&format!("| {label} |"));
        for compression in compressions {
            let shown = match (view.line(encoding, compression, statistics), view.outcome(encoding, compression)) {
                (Some(line), _) if is_best_of_column(line, view.reading(), measure) => format!("**{}**", show(line)),
                (Some(line), _) => show(line),
                (None, Some(Outcome::Failed { .. })) => "FAILED".to_owned(),
                (None, Some(Outcome::Pending)) => "…".to_owned(),
                (None, _) => "–".to_owned(),
            };
            text.push_str(&format!(" {shown} |"));
        }
        text.push('\n');
    }
    text
}

fn all_figures(view: &View<'_>) -> String {
    let mut text = String::from(
        "| | size | ratio | convert | query | mean ± 95 % | min … max | × raw | M rows/s | cycles/B | memory | read | \
         decompress | decode | aggregate | rest |\n|---|",
    );
    text.push_str(&"---:|".repeat(15));
    text.push('\n');
    let mut lines: Vec<&Line<'_>> = view.lines.iter().collect();
    lines.sort_by(|one, other| one.query.median.total_cmp(&other.query.median));
    for line in lines.into_iter().chain([&view.input]) {
        let parts: Vec<String> = line.parts.iter().map(|part| digits(part.ns / 1e6)).collect();
        let cells = [
            line.name(),
            bytes(line.bytes),
            view.ratio(line).map_or("–".to_owned(), digits),
            line.convert.map_or("–".to_owned(), |convert| time(convert.median)),
            time(line.query.median) + if line.query.outliers > 0 { " !" } else { "" },
            mean(&line.query),
            format!("{} … {}", time(line.query.min), time(line.query.max)),
            digits(line.over_floor()),
            digits(view.million_rows(line)),
            view.cycles(line).map_or("–".to_owned(), digits),
            line.peak_memory.map_or("–".to_owned(), bytes),
        ];
        text.push_str(&format!("| {} | {} |\n", cells.join(" | "), parts.join(" | ")));
    }
    text.push_str(
        "\nThe last five columns show where the CPU time of a query goes, in milliseconds of all threads together; \
         *!* marks outliers.\n",
    );
    text
}

/// A mean with its confidence interval, if it has one, in one unit.
pub(crate) fn mean(summary: &Summary) -> String {
    let (divisor, unit) = if summary.mean >= 999.5e6 { (1e9, "s") } else { (1e6, "ms") };
    let confidence = summary.confidence.map(|confidence| format!(" ± {}", digits(confidence / divisor)));
    format!("{}{} {unit}", digits(summary.mean / divisor), confidence.unwrap_or_default())
}

/// Escapes text for Markdown, on one line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '$' => escaped.extend(['\\', character]),
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// Formats text as inline code, fenced by more backticks than it contains in a row.
fn code(text: &str) -> String {
    let text: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let around = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{around}{space}{text}{space}{around}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_matches_its_snapshot() {
        let results = crate::sample::results();
        let views: Vec<_> = results.tables.iter().filter_map(|table| View::new(&results, table)).collect();
        insta::assert_snapshot!("README.md", render(&results, &views));
    }

    #[test]
    fn a_single_run_has_no_spread() {
        assert_eq!(mean(&Summary::of(&[8.25e6]).unwrap()), "8.25 ms");
        assert_eq!(mean(&Summary::of(&[1e9, 1e9]).unwrap()), "1.00 ± 0.00 s");
    }

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(escape("a|b*c_d<e"), "a\\|b\\*c\\_d&lt;e");
        assert_eq!(escape("&amp;\n[x](y)\\"), "&amp;amp; \\[x\\](y)\\\\");
        assert_eq!(code("a `b``\n"), "```a `b`` ```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a|b"), "`a|b`");
    }
}
