//! The scatter plot of size against time: an SVG picture with logarithmic axes, the Pareto front and labels that do not
//! overlap.

use super::escape;
use super::labels::{Area, place};

/// A marker of the plot.
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// The label with its rank (0 is placed first); `None` for most points.
    pub(super) label: Option<(u32, String)>,
    /// The tooltip.
    pub(super) title: String,
    /// The indices of its colour and shape.
    pub(super) colour: usize,
    pub(super) shape: usize,
    /// Whether only its outline is drawn.
    pub(super) hollow: bool,
}

/// What an axis measures.
pub(super) struct Axis {
    pub(super) title: &'static str,
    pub(super) show: fn(f64) -> String,
}

/// A picture of points.
pub(super) struct Scatter<'a> {
    pub(super) points: &'a [Point],
    /// The indices of the points on the Pareto front, from left to right.
    pub(super) front: &'a [usize],
    pub(super) x: Axis,
    pub(super) y: Axis,
}

const LEFT: f64 = 62.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;

/// A logarithmic scale from values to picture coordinates.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale that covers all values, with a margin.
    fn of(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).max(1e-9);
        let high = values.fold(low, f64::max);
        // At least a factor of 2, or nearly equal values would look far apart.
        let margin = (high / low).powf(0.08).max((2.0 / (high / low)).sqrt()).max(1.05);
        Self { low: (low / margin).ln(), high: (high * margin).ln(), from, to }
    }

    fn position(&self, value: f64) -> f64 {
        let share = (value.max(1e-9).ln() - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// Round values, as many as fit with `distance` between them.
    fn ticks(&self, distance: f64) -> Vec<f64> {
        let steps: [&[f64]; 5] =
            [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], &[1.0, 2.0, 3.0, 5.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
        let ticks = |steps: &[f64]| {
            let (first, last) = (
                (self.low / std::f64::consts::LN_10).floor() as i32,
                (self.high / std::f64::consts::LN_10).ceil() as i32,
            );
            let all = (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
            all.filter(|tick| (self.low..=self.high).contains(&tick.ln())).collect::<Vec<f64>>()
        };
        let fits = |ticks: &Vec<f64>| {
            ticks.windows(2).all(|pair| (self.position(pair[1]) - self.position(pair[0])).abs() >= distance)
        };
        steps.into_iter().map(ticks).find(fits).unwrap_or_default()
    }
}

impl Scatter<'_> {
    /// The picture in the given width and height.
    pub(super) fn svg(&self, class: &str, width: f64, height: f64) -> String {
        let frame = Area { left: LEFT, top: TOP, right: width - RIGHT, bottom: height - BOTTOM };
        let x = Scale::of(self.points.iter().map(|point| point.x), frame.left, frame.right);
        let y = Scale::of(self.points.iter().map(|point| point.y), frame.bottom, frame.top);
        let positions: Vec<(f64, f64)> =
            self.points.iter().map(|point| (x.position(point.x), y.position(point.y))).collect();
        let title = format!("{} against {}", self.x.title, self.y.title);
        let mut svg =
            format!("<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n");
        svg.push_str(&self.axes(&x, &y, frame));
        svg.push_str(&self.front_line(&positions));
        for (point, &position) in self.points.iter().zip(&positions) {
            svg.push_str(&marker(point, position));
        }
        svg.push_str(&self.labels(&positions, frame));
        svg.push_str("</svg>\n");
        svg
    }

    fn axes(&self, x: &Scale, y: &Scale, frame: Area) -> String {
        let Area { left, top, right, bottom } = frame;
        let mut svg = String::new();
        for tick in x.ticks(58.0) {
            let (position, text) = (x.position(tick), (self.x.show)(tick));
            svg.push_str(&format!(
                "<line class=\"grid\" x1=\"{position:.1}\" y1=\"{top}\" x2=\"{position:.1}\" y2=\"{bottom}\"/>"
            ));
            svg.push_str(&format!(
                "<text class=\"tick\" x=\"{position:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n",
                bottom + 17.0
            ));
        }
        for tick in y.ticks(30.0) {
            let (position, text) = (y.position(tick), (self.y.show)(tick));
            svg.push_str(&format!(
                "<line class=\"grid\" x1=\"{left}\" y1=\"{position:.1}\" x2=\"{right}\" y2=\"{position:.1}\"/>"
            ));
            svg.push_str(&format!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>\n",
                left - 8.0,
                position + 4.0
            ));
        }
        svg.push_str(&format!(
            "<text class=\"axis\" x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{} →</text>",
            bottom + 36.0,
            self.x.title
        ));
        svg.push_str(&format!("<text class=\"axis\" x=\"4\" y=\"{:.1}\">↑ {}</text>\n", top - 14.0, self.y.title));
        svg
    }

    /// The Pareto front as a step line.
    fn front_line(&self, positions: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (index, &point) in self.front.iter().enumerate() {
            let Some((x, y)) = positions.get(point) else { continue };
            let step = if index == 0 { format!("M{x:.1} {y:.1}") } else { format!("H{x:.1}V{y:.1}") };
            path.push_str(&step);
        }
        format!("<path class=\"front\" d=\"{path}\"/>\n")
    }

    fn labels(&self, positions: &[(f64, f64)], frame: Area) -> String {
        let mut wanted: Vec<(u32, (f64, f64), String)> = Vec::new();
        for (point, &position) in self.points.iter().zip(positions) {
            wanted.extend(point.label.clone().map(|(importance, text)| (importance, position, text)));
        }
        wanted.sort_by_key(|(importance, _, _)| *importance);
        let labels: Vec<((f64, f64), String)> =
            wanted.into_iter().map(|(_, position, text)| (position, text)).collect();
        let found = place(&labels, positions, frame);
        let mut svg = String::new();
        for ((point, text), area) in labels.iter().zip(found) {
            let Some(area) = area else { continue };
            svg.push_str(&leader(*point, area));
            let (x, y) = ((area.left + area.right) / 2.0, area.bottom - 3.0);
            svg.push_str(&format!(
                "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>\n",
                escape(text)
            ));
        }
        svg
    }
}

/// A line from a point to its label, if they are far apart.
fn leader((x, y): (f64, f64), area: Area) -> String {
    let (to_x, to_y) = (x.clamp(area.left, area.right), y.clamp(area.top, area.bottom));
    if (to_x - x).hypot(to_y - y) < 20.0 {
        return String::new();
    }
    format!("<line class=\"leader\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{to_x:.1}\" y2=\"{to_y:.1}\"/>\n")
}

fn marker(point: &Point, (x, y): (f64, f64)) -> String {
    let hollow = if point.hollow { " hollow" } else { "" };
    format!(
        "<path class=\"point c{}{hollow}\" d=\"{}\" transform=\"translate({x:.1} {y:.1})\"><title>{}</title></path>\n",
        point.colour,
        shape(point.shape),
        escape(&point.title)
    )
}

/// The outline of a marker around the origin; shapes repeat after the last one.
pub(super) fn shape(number: usize) -> &'static str {
    const SHAPES: [&str; 7] = [
        "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
        "M-4 -4h8v8h-8z",
        "M0 -5.4L5 3.6H-5z",
        "M0 -5.6L5.6 0L0 5.6L-5.6 0z",
        "M0 5.4L5 -3.6H-5z",
        "M-1.7 -5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z",
        "M-2.6 -4.6h5.2L5.3 0L2.6 4.6h-5.2L-5.3 0z",
    ];
    SHAPES[number % SHAPES.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_logarithmic_and_cover_all_values() {
        let scale = Scale::of([10.0, 1000.0].into_iter(), 0.0, 100.0);
        assert!((scale.position(100.0) - 50.0).abs() < 1e-9);
        assert!(scale.position(10.0) > 0.0 && scale.position(1000.0) < 100.0);
        let equal = Scale::of([7.0, 7.0].into_iter(), 0.0, 100.0);
        assert!((equal.position(7.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round_and_keep_a_minimum_distance() {
        let scale = Scale::of([3.0, 800.0].into_iter(), 0.0, 300.0);
        assert_eq!(scale.ticks(60.0).iter().map(|tick| tick.round()).collect::<Vec<_>>(), [10.0, 100.0, 1000.0]);
        // 2, 5, 10 … 1000.
        assert_eq!(scale.ticks(25.0).len(), 9);
        let none = Scale::of([1.0, 1.0].into_iter(), 0.0, 1.0);
        assert!(none.ticks(50.0).len() <= 1);
    }
}
