//! Renders an HTML page of values over time.

use super::{TEMPLATE, escape, trim};
use crate::environment::{Environment, host_name};

/// A plot of values over time.
pub struct Plot {
    /// The heading.
    pub title: &'static str,
    /// The formatter of a value.
    pub show: fn(f64) -> String,
    /// Seconds since the start and values, in order.
    pub points: Vec<(f64, f64)>,
}

/// The run that was sampled.
pub struct TimedRun {
    /// The command line.
    pub command: String,
    /// The start time, as [`now`](crate::now) formats it.
    pub started: String,
    /// Whether a signal ended the run.
    pub is_killed: bool,
}

/// Renders the page of a run in the style of the reports, with the current machine and version.
#[must_use]
pub fn timeline(run: &TimedRun, plots: &[Plot]) -> String {
    let style = TEMPLATE.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>"));
    let style = style.map_or("", |(style, _)| style);
    let (title, started) = (escape(&run.command), escape(&run.started));
    let killed = if run.is_killed { "<p class=\"warning\">The run was ended by a signal.</p>\n" } else { "" };
    let plots: String = plots.iter().map(section).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>{style}\nsvg .line {{ fill: none; \
         stroke: var(--accent); stroke-width: 1.6; }}\n</style>\n</head>\n<body>\n<main>\n<h1>Metrics</h1>\n\
         <p class=\"facts\">{started} · <code>{title}</code></p>\n{killed}{plots}<h3>Environment</h3>\n{}</main>\n</body>\n\
         </html>\n",
        facts()
    )
}

/// The machine and the program.
fn facts() -> String {
    let host = host_name().map(|name| ("Host", name));
    let mut html = String::from("<dl>\n");
    for (label, fact) in host.into_iter().chain(Environment::detect().facts()) {
        html.push_str(&format!("<dt>{label}</dt><dd>{}</dd>\n", escape(&fact)));
    }
    html + "</dl>\n"
}

/// The size of a picture and the margins of its plot.
struct Frame {
    class: &'static str,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    /// The approximate number of intervals on the time axis.
    seconds: f64,
}

/// One picture for wide and one for narrow screens; the style sheet shows the one that fits.
const FRAMES: [Frame; 2] = [
    Frame { class: "wide", width: 960.0, height: 170.0, left: 90.0, right: 20.0, seconds: 8.0 },
    Frame { class: "narrow", width: 360.0, height: 150.0, left: 76.0, right: 16.0, seconds: 3.0 },
];

const TOP: f64 = 14.0;
const BOTTOM: f64 = 26.0;

fn section(plot: &Plot) -> String {
    let most = plot.points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let last = plot.points.last().map_or(0.0, |(_, value)| *value);
    let pictures = FRAMES.map(|frame| picture(plot, &frame)).concat();
    let (most, last) = ((plot.show)(most), (plot.show)(last));
    format!("<h3>{}</h3>\n<p>at most {most}, at the end {last}</p>\n{pictures}", plot.title)
}

fn picture(plot: &Plot, frame: &Frame) -> String {
    let Frame { class, width, height, left, right, seconds } = *frame;
    let end = plot.points.iter().map(|(seconds, _)| *seconds).fold(0.001, f64::max);
    let most = plot.points.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    let step = round_step(most / 3.0);
    let top = (most / step).ceil() * step;
    let x = |seconds: f64| left + seconds / end * (width - left - right);
    let y = |value: f64| height - BOTTOM - value / top * (height - TOP - BOTTOM);
    let mut svg = format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n",
        plot.title
    );
    let mut before = String::new();
    for value in ticks(top, step) {
        let text = trim(&(plot.show)(value));
        // Fractions of a whole count are formatted alike; only the first tick is drawn.
        if text == before {
            continue;
        }
        let (position, right) = (y(value), width - right);
        svg.push_str(&format!(
            "<line class=\"grid\" x1=\"{left}\" y1=\"{position:.1}\" x2=\"{right}\" y2=\"{position:.1}\"/>"
        ));
        svg.push_str(&tick(left - 8.0, position + 4.0, "end", &text));
        before = text;
    }
    for seconds in ticks(end, round_step(end / seconds)) {
        svg.push_str(&tick(x(seconds), height - 8.0, "middle", &trim(&format!("{seconds:.4} s"))));
    }
    let positions: Vec<String> =
        plot.points.iter().map(|&(seconds, value)| format!("{:.1} {:.1}", x(seconds), y(value))).collect();
    if !positions.is_empty() {
        svg.push_str(&format!("<path class=\"line\" d=\"M{}\"/>\n", positions.join("L")));
    }
    svg + "</svg>\n"
}

/// The smallest of 1, 2, 5, 10, 20 … (or 0.5, 0.2 …) that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|digit| digit * power);
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// The multiples of `step` from 0 to `end`.
fn ticks(end: f64, step: f64) -> impl Iterator<Item = f64> {
    (0..=(end / step + 1e-6) as u32).map(move |index| f64::from(index) * step)
}

fn tick(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!("<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_plot_and_loads_nothing_else() {
        let show = |value: f64| format!("{value} <rows>");
        let plots = [
            Plot { title: "rows", show, points: vec![(0.1, 0.0), (0.2, 50.0), (0.3, 100.0)] },
            Plot { title: "nothing", show, points: Vec::new() },
        ];
        let run = TimedRun {
            command: "brc query 'a<b>.csv'".to_owned(),
            started: "2026-11-20 14:58:40 UTC".to_owned(),
            is_killed: false,
        };
        let page = timeline(&run, &plots);
        assert!(page.contains("<code>brc query &#39;a&lt;b&gt;.csv&#39;</code>") && page.contains("100 &lt;rows&gt;"));
        // Each plot is drawn for wide and for narrow screens.
        assert_eq!((page.matches("<svg").count(), page.matches("class=\"line\"").count()), (4, 2));
        assert_eq!(page.matches("<svg class=\"narrow\"").count(), 2);
        assert!(page.contains("2026-11-20 14:58:40 UTC · ") && page.contains("<dt>System</dt>"), "{page}");
        assert!(page.contains(&format!("<dt>brc</dt><dd>{}", env!("CARGO_PKG_VERSION"))) && !page.contains("signal"));
        assert!(timeline(&TimedRun { is_killed: true, ..run }, &plots).contains("ended by a signal"));
        assert!(page.contains("--accent") && !page.contains("http") && !page.contains("NaN"), "{page}");
    }

    #[test]
    fn ticks_are_round() {
        for (least, step) in [(0.3, 0.5), (1.0, 1.0), (1.1, 2.0), (333.3, 500.0), (6.0e6, 1.0e7), (0.0, 1e-9)] {
            assert!((round_step(least) / step - 1.0).abs() < 1e-6, "{least}");
        }
        let ticks: Vec<String> = ticks(0.7, round_step(0.7 / 3.0)).map(|tick| format!("{tick:.1}")).collect();
        assert_eq!(ticks, ["0.0", "0.5"]);
        let plot =
            Plot { title: "rows", show: |value| format!("{value:.2} MB"), points: vec![(1.234, 1.9), (3.1, 7.3)] };
        let svg = picture(&plot, &FRAMES[0]);
        for text in [">0 MB<", ">5 MB<", ">10 MB<", ">0.5 s<", ">3 s<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
    }
}
