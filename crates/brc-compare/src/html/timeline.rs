//! A page of plots over time.

use super::{TEMPLATE, escape};

/// Values over time.
pub struct Plot {
    /// What they are.
    pub title: &'static str,
    /// How one is written.
    pub show: fn(f64) -> String,
    /// Seconds and values, in order.
    pub points: Vec<(f64, f64)>,
}

/// The page of a command, in the style of the reports.
#[must_use]
pub fn timeline(command: &str, plots: &[Plot]) -> String {
    let style = TEMPLATE.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>"));
    let style = style.map_or("", |(style, _)| style);
    let title = escape(command);
    let plots: String = plots.iter().map(section).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>{style}\nsvg .line {{ fill: none; \
         stroke: var(--accent); stroke-width: 1.6; }}\n</style>\n</head>\n<body>\n<main>\n<h1>Metrics</h1>\n\
         <p><code>{title}</code></p>\n{plots}</main>\n</body>\n</html>\n"
    )
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 26.0;

fn section(plot: &Plot) -> String {
    let end = plot.points.iter().map(|(seconds, _)| *seconds).fold(0.001, f64::max);
    let most = plot.points.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    let x = |seconds: f64| LEFT + seconds / end * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - value / most * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!("<svg class=\"wide\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n");
    for value in [0.0, most / 2.0, most] {
        let (place, right) = (y(value), WIDTH - RIGHT);
        svg.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{place:.1}\" x2=\"{right}\" y2=\"{place:.1}\"/>"
        ));
        svg.push_str(&tick(LEFT - 8.0, place + 4.0, "end", &(plot.show)(value)));
    }
    for seconds in [0.0, end / 2.0, end] {
        svg.push_str(&tick(x(seconds), HEIGHT - 8.0, "middle", &format!("{seconds:.1} s")));
    }
    let places: Vec<String> =
        plot.points.iter().map(|&(seconds, value)| format!("{:.1} {:.1}", x(seconds), y(value))).collect();
    if !places.is_empty() {
        svg.push_str(&format!("<path class=\"line\" d=\"M{}\"/>\n", places.join("L")));
    }
    svg.push_str("</svg>\n");
    let shown = plot.points.last().map(|(_, value)| (plot.show)(*value)).unwrap_or_default();
    format!("<h3>{}</h3>\n<p>at most {}, at the end {}</p>\n{svg}", plot.title, (plot.show)(most), shown)
}

fn tick(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!("<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_plot_and_asks_for_nothing_else() {
        let show = |value: f64| format!("{value} <rows>");
        let plots = [
            Plot { title: "rows", show, points: vec![(0.1, 0.0), (0.2, 50.0), (0.3, 100.0)] },
            Plot { title: "nothing", show, points: Vec::new() },
        ];
        let page = timeline("brc query 'a<b>.csv'", &plots);
        assert!(page.contains("<code>brc query &#39;a&lt;b&gt;.csv&#39;</code>") && page.contains("100 &lt;rows&gt;"));
        assert_eq!((page.matches("<svg").count(), page.matches("class=\"line\"").count()), (2, 1));
        assert!(page.contains("--accent") && !page.contains("http") && !page.contains("NaN"), "{page}");
    }
}
