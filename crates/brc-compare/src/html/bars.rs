//! The bar chart of query phases: one bar per line, stacked from its phases.

use super::escape;
use crate::quantity::{digits, time};
use crate::view::{Line, PARTS, View};

/// The bars, fastest query first, with a switch between absolute times and shares.
pub(super) fn bars(view: &View<'_>, number: usize) -> String {
    let mut lines: Vec<&Line<'_>> = view.lines.iter().chain([&view.input]).collect();
    lines.sort_by(|one, other| one.parts_total().total_cmp(&other.parts_total()));
    let mut html = format!(
        "<div class=\"bars\">\n\
         <p class=\"switch\"><input type=\"radio\" name=\"bars{number}\" id=\"time{number}\" class=\"bytime\" checked>\
         <label for=\"time{number}\">time</label>\
         <input type=\"radio\" name=\"bars{number}\" id=\"share{number}\" class=\"byshare\">\
         <label for=\"share{number}\">share</label></p>\n<p class=\"legend\">"
    );
    for (index, name) in PARTS.iter().enumerate() {
        html.push_str(&format!("<span><i class=\"p{index}\"></i>{name}</span> "));
    }
    html.push_str("</p>\n");
    let (first, more): (Vec<&Line<'_>>, Vec<&Line<'_>>) = if lines.len() > MAX_UNFOLDED_BARS {
        lines.into_iter().partition(|line| is_quickest(view, line))
    } else {
        (lines, Vec::new())
    };
    html.push_str(&stacks(&first));
    if !more.is_empty() {
        let others = more.len();
        html.push_str(&format!("<details><summary>The other {others}, on a scale of their own</summary>\n"));
        html.push_str(&stacks(&more));
        html.push_str("</details>\n");
    }
    html.push_str("</div>\n");
    html
}

/// Bars on a common scale.
fn stacks(lines: &[&Line<'_>]) -> String {
    let longest = lines.iter().map(|line| line.parts_total()).fold(1.0, f64::max);
    lines.iter().map(|line| bar(line, longest)).collect()
}

/// With more bars than this, only the fastest of each encoding are shown unfolded.
const MAX_UNFOLDED_BARS: usize = 20;

fn is_quickest(view: &View<'_>, line: &Line<'_>) -> bool {
    let own = |other: &&Line<'_>| (other.encoding, other.statistics) == (line.encoding, line.statistics);
    line.compression.is_empty() || view.lines.iter().filter(own).all(|other| line.query.median <= other.query.median)
}

fn bar(line: &Line<'_>, longest: f64) -> String {
    let total = line.parts_total().max(1.0);
    let mut segments = String::new();
    for (index, part) in line.parts.iter().enumerate().filter(|(_, part)| part.ns > 0.0) {
        let share = part.ns / total * 100.0;
        segments.push_str(&format!(
            "<i class=\"p{index}\" style=\"width:{share:.2}%\" title=\"{}: {} ({} %)\"></i>",
            part.name,
            time(part.ns),
            digits(share)
        ));
    }
    format!(
        "<div class=\"bar\"><span class=\"name\">{}</span><span class=\"track\"><span class=\"stack\" \
         style=\"--length:{:.2}%\">{segments}</span></span><span class=\"total\">{}</span></div>\n",
        escape(&line.name()),
        total / longest * 100.0,
        time(line.parts_total())
    )
}
