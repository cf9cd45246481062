//! `report.html`: one file that opens from disk and loads nothing else.
//!
//! The page's frame, its styles and the script that sorts tables are in `template.html`; measurements are inserted as
//! text and SVG pictures that need no script.

mod bars;
mod labels;
mod scatter;
mod tables;
mod timeline;

use super::advice::{Advice, advise};
use super::results::Results;
use super::view::{Line, View};
use crate::quantity::{bytes, rows, time};
use scatter::{Axis, Point, Scatter, shape};
pub use timeline::{Plot, TimedRun, timeline};

const TEMPLATE: &str = include_str!("template.html");

/// The whole page.
pub(crate) fn render(results: &Results, views: &[View<'_>]) -> String {
    let mut names: Vec<String> = views.iter().map(|view| escape(view.table_name())).collect();
    names.dedup();
    let sections: String = views.iter().enumerate().map(|(number, view)| section(view, number)).collect();
    // A single pass over the template, so that inserted text is never taken for a placeholder.
    let mut page = String::new();
    for (index, section) in TEMPLATE.split("<!--@").enumerate() {
        let Some((name, rest)) = section.split_once("-->").filter(|_| index > 0) else {
            page.push_str(section);
            continue;
        };
        page.push_str(&match name {
            "title" => names.join(", "),
            "started" => escape(&results.started),
            "command" => escape(&results.command),
            "sections" => sections.clone(),
            "notes" => list(&super::notes::notes(results)),
            "environment" => environment(results),
            _ => String::new(),
        });
        page.push_str(rest);
    }
    page
}

fn section(view: &View<'_>, number: usize) -> String {
    let facts = view.facts;
    let mut html = format!(
        "<section>\n<h2>{}</h2>\n<p class=\"facts\">{} · {} as {} · {} as text · answer of {}</p>\n",
        escape(view.table_name()),
        view.rows(),
        bytes(facts.bytes),
        escape(&facts.encoding),
        bytes(facts.text_bytes),
        rows(facts.groups)
    );
    html.push_str(&tables::columns(&facts.schema));
    if let Some(query) = view.query_text() {
        html.push_str(&format!("<p class=\"facts\">query: {}</p>\n", escape(&query)));
    }
    for warning in view.warnings() {
        html.push_str(&format!("<p class=\"warning\">{}</p>\n", escape(&warning)));
    }
    if let Some(advice) = advise(view) {
        html.push_str(&cards(&advice));
        html.push_str(
            "<h3>Size and query time</h3>\n<p>Lower is faster, further left is smaller. The line is the Pareto \
             front: no file is both smaller and faster than one on it.</p>\n",
        );
        html.push_str(&size_and_time(view, &advice));
    }
    html.push_str(
        "<h3>At a glance</h3>\n<p>Query time, size and time to convert. The best of each column is marked, and so \
         is everything within measurement error of it.</p>\n",
    );
    html.push_str(&tables::matrix(view));
    html.push_str("<h3>Where the time goes</h3>\n<p>CPU time of one query, all threads together.</p>\n");
    html.push_str(&bars::bars(view, number));
    html.push_str("<h3>All figures</h3>\n<p>Click a title to sort; scroll to the right for more columns.</p>\n");
    html.push_str(&tables::all_figures(view));
    html.push_str(&blanks(view));
    html.push_str("</section>\n");
    html
}

fn cards(advice: &Advice<'_, '_>) -> String {
    let mut html = String::from("<div class=\"cards\">\n");
    for pick in &advice.picks {
        html.push_str(&format!(
            "<div class=\"card\"><h3>{}</h3><p class=\"pick\">{}</p><p>{}.</p></div>\n",
            pick.purpose,
            escape(&pick.name),
            escape(&pick.sentence)
        ));
    }
    html.push_str("</div>\n");
    html.push_str(&list(&advice.firsts));
    let names = |front: &[&Line<'_>]| front.iter().map(|line| line.name()).collect::<Vec<_>>().join(", ");
    html.push_str(&format!(
        "<p class=\"facts\">Pareto front of size and query time: {}. Of size and time to convert: {}.</p>\n",
        escape(&names(&advice.query_front)),
        escape(&names(&advice.convert_front))
    ));
    html
}

/// The scatter, drawn for wide and for narrow screens, and its legend.
fn size_and_time(view: &View<'_>, advice: &Advice<'_, '_>) -> String {
    let settings = &view.results.settings;
    let position = |list: &[String], name: &str| list.iter().position(|other| other == name).unwrap_or(list.len());
    let is_same = |one: &Line<'_>, other: &Line<'_>| {
        (one.encoding, one.compression, one.statistics) == (other.encoding, other.compression, other.statistics)
    };
    let quickest = |line: &Line<'_>| {
        let mut others =
            view.lines.iter().filter(|other| (other.encoding, other.statistics) == (line.encoding, line.statistics));
        others.all(|other| line.query.median <= other.query.median)
    };
    let lines: Vec<&Line<'_>> = view.lines.iter().chain([&view.input]).collect();
    let point = |line: &&Line<'_>| {
        let is_front = advice.query_front.iter().any(|other| is_same(other, line));
        let is_input = line.compression.is_empty();
        let importance = match () {
            () if is_front => Some(0),
            () if is_input => Some(1),
            () if quickest(line) => Some(2),
            () => None,
        };
        Point {
            x: line.bytes as f64,
            y: line.query.median,
            label: importance.map(|importance| (importance, line.name())),
            title: format!("{}: {}, query {}", line.name(), view.size(line), time(line.query.median)),
            colour: position(&settings.encodings, line.encoding) % COLOURS,
            shape: position(&settings.compressions, line.compression),
            hollow: line.statistics || is_input,
        }
    };
    let points: Vec<Point> = lines.iter().map(point).collect();
    let on_front = |front: &&Line<'_>| lines.iter().position(|line| is_same(line, front));
    let front: Vec<usize> = advice.query_front.iter().filter_map(on_front).collect();
    let picture = Scatter {
        points: &points,
        front: &front,
        x: Axis { title: "size", show: |value| trim(&bytes(value.round() as u64)) },
        y: Axis { title: "query", show: |value| trim(&time(value)) },
    };
    format!("{}{}{}", picture.svg("wide", 960.0, 480.0), picture.svg("narrow", 360.0, 400.0), legend(view))
}

/// The number of encoding colours in the template.
const COLOURS: usize = 12;

/// Removes trailing zeros after the decimal point: `1.00 ms` becomes `1 ms`.
fn trim(text: &str) -> String {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}").trim_end().to_owned()
}

fn legend(view: &View<'_>) -> String {
    let settings = &view.results.settings;
    let mut html = String::from("<p class=\"legend\">");
    for (index, encoding) in settings.encodings.iter().enumerate() {
        html.push_str(&format!("<span><i class=\"c{}\"></i>{}</span> ", index % COLOURS, escape(encoding)));
    }
    html.push_str("</p>\n<p class=\"legend\">");
    for (index, compression) in settings.compressions.iter().enumerate() {
        html.push_str(&format!(
            "<span><svg viewBox=\"-7 -7 14 14\"><path d=\"{}\"/></svg>{}</span> ",
            shape(index),
            escape(compression)
        ));
    }
    html.push_str(
        "<span><svg viewBox=\"-7 -7 14 14\"><path class=\"hollow\" d=\"M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z\"/>\
         </svg>not ranked: the input itself, and answers from statistics</span></p>\n",
    );
    html
}

fn blanks(view: &View<'_>) -> String {
    let items: Vec<String> = view
        .blanks()
        .into_iter()
        .map(|(name, failed, reason)| format!("{name}: {}: {reason}", if failed { "FAILED" } else { "not possible" }))
        .collect();
    if items.is_empty() { String::new() } else { format!("<h3>Cells without figures</h3>\n{}", list(&items)) }
}

fn environment(results: &Results) -> String {
    let mut html = String::from("<dl>\n");
    for (label, fact) in results.environment.facts() {
        html.push_str(&format!("<dt>{label}</dt><dd>{}</dd>\n", escape(&fact)));
    }
    html.push_str("</dl>\n<details><summary>Crates</summary><p class=\"crates\">");
    let crates: Vec<String> =
        results.environment.crates.iter().map(|(name, version)| escape(&format!("{name} {version}"))).collect();
    html.push_str(&crates.join(" · "));
    html.push_str("</p></details>\n");
    html
}

fn list(items: &[String]) -> String {
    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", escape(item))).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// Escapes text for element content and attribute values.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            character if character.is_control() => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        let results = crate::sample::results();
        let views: Vec<_> = results.tables.iter().filter_map(|table| View::new(&results, table)).collect();
        render(&results, &views)
    }

    #[test]
    fn the_sample_matches_its_snapshot() {
        let page = page();
        // The styles may change without a snapshot.
        let body = page.split_once("<body>").map(|(_, body)| body).unwrap();
        insta::assert_snapshot!("report.html", body);
    }

    #[test]
    fn the_page_loads_nothing_else() {
        let page = page();
        for word in ["http:", "https:", "src=", "url(", "@import", "<link", "<!--@"] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("prefers-color-scheme"));
    }

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(escape("<a & \"b\"\n'c'>"), "&lt;a &amp; &quot;b&quot; &#39;c&#39;&gt;");
        let page = page();
        // The name of the sample's second table contains markup.
        assert!(page.contains("&lt;b&gt; &amp; &quot;co&quot;, |1|.csv") && !page.contains("<b> &"));
    }

    #[test]
    fn elements_are_closed() {
        let page = page();
        for element in
            ["section", "table", "tr", "td", "th", "div", "p", "ul", "li", "svg", "span", "h3", "button", "i"]
        {
            let opened = page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
            assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
        }
    }

    #[test]
    fn ticks_have_no_trailing_zeros() {
        assert_eq!(trim("1.00 ms"), "1 ms");
        assert_eq!(trim("1.50 MB"), "1.5 MB");
        assert_eq!(trim("200 MB"), "200 MB");
        assert_eq!(trim("10.0 µs"), "10 µs");
    }
}
