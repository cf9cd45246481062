//! The tables of the report: the matrix of encodings × compressions, and the sortable table of all figures.

use super::escape;
use crate::best::{Measure, convert, is_best_of_column, query, size};
use crate::markdown::mean;
use crate::quantity::{bytes, digits, rounded_bytes, time};
use crate::results::Outcome;
use crate::view::{Line, View};
use brc_core::Schema;

/// The schema of the table, folded.
pub(super) fn columns(schema: &Schema) -> String {
    let fields = schema.fields();
    let columns = if fields.len() == 1 { "column" } else { "columns" };
    let mut html = format!(
        "<details><summary>{} {columns}</summary><div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th>column</th>\
         <th>type</th></tr></thead>\n<tbody>\n",
        fields.len()
    );
    for field in fields {
        let not_null = if field.nullable { "" } else { " not null" };
        html.push_str(&format!("<tr><th>{}</th><td>{}{not_null}</td></tr>\n", escape(&field.name), field.logical_type));
    }
    html.push_str("</tbody></table></div></details>\n");
    html
}

/// The matrix of encodings (rows) and compressions (columns); each cell has the query time, the size and the conversion
/// time.
pub(super) fn matrix(view: &View<'_>) -> String {
    let compressions = &view.results.settings.compressions;
    let mut html = String::from("<div class=\"scroll\" tabindex=\"0\"><table class=\"matrix\">\n<thead><tr><th></th>");
    for compression in compressions {
        html.push_str(&format!("<th>{}</th>", escape(compression)));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (encoding, statistics) in view.matrix_rows() {
        let label = if statistics { format!("{encoding}<small>with statistics</small>") } else { escape(encoding) };
        html.push_str(&format!("<tr><th>{label}</th>"));
        for compression in compressions {
            html.push_str(&match (view.line(encoding, compression, statistics), view.outcome(encoding, compression)) {
                (Some(line), _) => figures(view, line),
                (None, Some(Outcome::Failed { reason })) => {
                    format!("<td class=\"failed\" title=\"{}\">FAILED</td>", escape(reason))
                }
                (None, Some(Outcome::Impossible { reason })) => format!("<td title=\"{}\">–</td>", escape(reason)),
                (None, _) => "<td>–</td>".to_owned(),
            });
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}

fn figures(view: &View<'_>, line: &Line<'_>) -> String {
    let best = |measure: Measure| {
        if is_best_of_column(line, view.reading(), measure) { " class=\"best\"" } else { "" }
    };
    let query = format!("<b{}>{}</b>", best(query), time(line.query.median));
    if line.statistics {
        return format!("<td>{query}</td>");
    }
    format!(
        "<td>{query}<small{}>{}</small><small{}>convert {}</small></td>",
        best(size),
        bytes(line.bytes),
        best(convert),
        time(convert(line).value)
    )
}

/// A column of the sortable table: its title, its tooltip, and the sort value and text of a line.
type Column = (&'static str, &'static str, fn(&View<'_>, &Line<'_>) -> (f64, String));

const COLUMNS: &[Column] = &[
    ("size", "size of the file", |_, line| (line.bytes as f64, bytes(line.bytes))),
    ("ratio", "size in relation to the text", |view, line| maybe(view.ratio(line), digits)),
    ("convert", "median time to convert the input to it", |_, line| maybe(line.convert.map(|it| it.median), time)),
    ("query", "median time of a query, warm", |_, line| (line.query.median, time(line.query.median))),
    ("mean ± 95 %", "mean time of a query and its confidence", |_, line| (line.query.mean, mean(&line.query))),
    ("min … max", "the fastest and the slowest query", |_, line| {
        let outliers = if line.query.outliers > 0 { " !" } else { "" };
        (line.query.min, format!("{} … {}{outliers}", time(line.query.min), time(line.query.max)))
    }),
    ("cold", "median time of a query with a cold page cache", |_, line| {
        maybe(line.cold.map(|it| it.query.median), time)
    }),
    ("raw", "median time of reading the file and nothing else", |_, line| (line.raw.median, time(line.raw.median))),
    ("× raw", "query time in relation to reading the file", |_, line| number(line.over_floor())),
    ("M rows/s", "million rows a second", |view, line| number(view.million_rows(line))),
    ("cycles/B", "cycles per byte of the text, all processors together", |view, line| maybe(view.cycles(line), digits)),
    ("memory", "peak memory of a query", |_, line| maybe(line.peak_memory.map(|it| it as f64), rounded_bytes)),
    ("memory, convert", "peak memory of a conversion", |_, line| {
        maybe(line.convert_memory.map(|it| it as f64), rounded_bytes)
    }),
];

fn number(value: f64) -> (f64, String) {
    (value, digits(value))
}

fn maybe(value: Option<f64>, show: fn(f64) -> String) -> (f64, String) {
    value.map_or((f64::MAX, "–".to_owned()), |value| (value, show(value)))
}

/// All figures of all lines, fastest query first. Columns without any figure are omitted.
pub(super) fn all_figures(view: &View<'_>) -> String {
    let mut lines: Vec<&Line<'_>> = view.lines.iter().chain([&view.input]).collect();
    lines.sort_by(|one, other| one.query.median.total_cmp(&other.query.median));
    let has_figures = |column: &&Column| lines.iter().any(|line| (column.2)(view, line).1 != "–");
    let columns: Vec<&Column> = COLUMNS.iter().filter(has_figures).collect();
    let mut html = String::from(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">\n<thead><tr><th><button>name</button></th>",
    );
    for (title, about, _) in &columns {
        let sorted = if *title == "query" { " aria-sort=\"ascending\"" } else { "" };
        html.push_str(&format!("<th{sorted} title=\"{about}\"><button>{title}</button></th>"));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for line in lines {
        let class = if line.statistics || line.compression.is_empty() { " class=\"aside\"" } else { "" };
        let name = escape(&line.name());
        html.push_str(&format!("<tr{class}><th data-value=\"{name}\">{name}</th>"));
        for (_, _, show) in &columns {
            let (value, text) = show(view, line);
            html.push_str(&format!("<td data-value=\"{value:e}\">{text}</td>"));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    html
}
