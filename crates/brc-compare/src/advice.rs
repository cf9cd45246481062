//! The sweet spots: what to pick, said in plain sentences, and what the pick costs elsewhere.
//!
//! Everything is computed from what was measured; no encoding is favoured by name. Lines that answer from statistics do
//! not compete: they did not read the data.

use super::pareto::front;
use super::view::{Line, View};
use crate::quantity::{bytes, count, digits, time};

/// What a comparison comes to.
pub(crate) struct Advice<'v, 'a> {
    /// No other is both smaller and quicker to query; the smallest first.
    pub(crate) query_front: Vec<&'v Line<'a>>,
    /// No other is both smaller and quicker to make; the smallest first.
    pub(crate) convert_front: Vec<&'v Line<'a>>,
    /// One for each purpose.
    pub(crate) picks: Vec<Pick>,
    /// Who is first in what.
    pub(crate) firsts: Vec<String>,
}

/// What to pick for a purpose.
pub(crate) struct Pick {
    /// As in "For repeated queries".
    pub(crate) purpose: &'static str,
    pub(crate) name: String,
    pub(crate) sentence: String,
}

/// Closer than this, times and sizes count as equal, and something else decides.
const EQUAL: f64 = 1.05;

/// What to make of a table's results; `None` if no cell went well.
pub(crate) fn advise<'v, 'a>(view: &'v View<'a>) -> Option<Advice<'v, 'a>> {
    let lines: Vec<&Line<'a>> = view.reading().collect();
    if lines.is_empty() {
        return None;
    }
    let of = |coordinate: fn(&Line<'_>) -> f64| {
        let points: Vec<(f64, f64)> = lines.iter().map(|line| (line.bytes as f64, coordinate(line))).collect();
        front(&points).into_iter().map(|index| lines[index]).collect::<Vec<_>>()
    };
    let picks = [repeated_queries(view, &lines), smallest_size(view, &lines), frequent_conversion(view, &lines)];
    Some(Advice {
        query_front: of(query),
        convert_front: of(convert),
        picks: picks.into_iter().flatten().collect(),
        firsts: firsts(view, &lines),
    })
}

fn size(line: &Line<'_>) -> f64 {
    line.bytes as f64
}

fn query(line: &Line<'_>) -> f64 {
    line.query.median
}

fn convert(line: &Line<'_>) -> f64 {
    line.convert.map_or(f64::INFINITY, |convert| convert.median)
}

/// Converting and one query.
fn once(line: &Line<'_>) -> f64 {
    convert(line) + query(line)
}

/// The line for which `first` is smallest; among those that are as good as equal, that for which `then` is.
fn best<'v, 'a>(
    lines: &[&'v Line<'a>],
    first: fn(&Line<'_>) -> f64,
    then: fn(&Line<'_>) -> f64,
) -> Option<&'v Line<'a>> {
    let smallest = lines.iter().map(|line| first(line)).min_by(f64::total_cmp)?;
    let equal = lines.iter().filter(|line| first(line) <= smallest * EQUAL);
    equal.min_by(|one, other| then(one).total_cmp(&then(other))).copied()
}

fn repeated_queries(view: &View<'_>, lines: &[&Line<'_>]) -> Option<Pick> {
    let line = best(lines, query, size)?;
    let faster = query(&view.input) / query(line).max(1.0);
    let faster = if faster > EQUAL {
        format!("{} times as fast as the input itself", digits(faster))
    } else {
        "no faster than the input itself".to_owned()
    };
    let sentence = format!("answers in {}, {faster}, and takes {}", time(query(line)), view.size(line));
    Some(Pick { purpose: "For repeated queries", name: line.name(), sentence })
}

fn smallest_size(view: &View<'_>, lines: &[&Line<'_>]) -> Option<Pick> {
    let line = best(lines, size, query)?;
    let sentence = format!("takes {} and answers in {}", view.size(line), time(query(line)));
    Some(Pick { purpose: "For the smallest size", name: line.name(), sentence })
}

fn frequent_conversion(view: &View<'_>, lines: &[&Line<'_>]) -> Option<Pick> {
    // A copy of the input in its own encoding is no conversion that anybody waits for.
    let is_copy = |line: &Line<'_>| line.encoding == view.facts.encoding && line.compression == "none";
    let others: Vec<&Line<'_>> = lines.iter().filter(|line| !is_copy(line)).copied().collect();
    let line = best(&others, once, size)?;
    let sentence = format!(
        "takes {} to convert and query once{}",
        time(once(line)),
        match queries_to_pay(view, line) {
            Some(1) => ", less than querying the input itself".to_owned(),
            Some(queries) => format!(", and pays off after {} queries", count(queries)),
            None => "; the input itself answers as fast, so converting saves no time".to_owned(),
        }
    );
    Some(Pick { purpose: "For frequent conversion", name: line.name(), sentence })
}

/// After how many queries converting has taken less time than querying the input as often; `None` if never.
fn queries_to_pay(view: &View<'_>, line: &Line<'_>) -> Option<u64> {
    let saved = view.input.query.median - query(line);
    (saved > 0.0).then(|| (convert(line) / saved).ceil().max(1.0) as u64)
}

/// Who wins what. If another encoding than the winner of query time wins anything, it is said with both figures.
fn firsts(view: &View<'_>, lines: &[&Line<'_>]) -> Vec<String> {
    let Some(leader) = best(lines, query, query) else { return Vec::new() };
    let mut measures: Vec<Measure> = vec![
        ("size", size, as_size),
        ("time to convert", convert, time),
        ("converting and querying once", once, time),
        ("memory for a query", |line| line.peak_memory.map_or(f64::INFINITY, |bytes| bytes as f64), as_size),
    ];
    if lines.iter().any(|line| line.cold.is_some()) {
        let cold = |line: &Line<'_>| line.cold.map_or(f64::INFINITY, |cold| cold.query.median);
        measures.push(("query time from a cold cache", cold, time));
    }
    let (mut also, mut lost) = (Vec::new(), Vec::new());
    for measure in measures {
        match first_in(leader, lines, measure) {
            Some(Place::Also(words)) => also.push(words),
            Some(Place::Lost(sentence)) => lost.push(sentence),
            None => {}
        }
    }
    let mut sentences = vec![format!("{} is first in query time, with {}.", leader.name(), time(query(leader)))];
    if !also.is_empty() {
        sentences.push(format!("{} is also first in {}.", leader.encoding, also.join(", in ")));
    }
    sentences.append(&mut lost);
    for line in view.lines.iter().filter(|line| line.statistics && line.compression == leader.compression) {
        let share = line.summarised_rows as f64 / view.facts.rows.max(1) as f64 * 100.0;
        let (name, time) = (line.name(), time(query(line)));
        sentences.push(format!("{name} answers in {time}: {} % of the rows need not be read.", digits(share)));
    }
    sentences
}

/// What is measured, of what, and how it is shown.
type Measure = (&'static str, fn(&Line<'_>) -> f64, fn(f64) -> String);

/// Where an encoding stands.
enum Place {
    /// First there too: in what, and with how much.
    Also(String),
    /// Another one is first.
    Lost(String),
}

fn as_size(value: f64) -> String {
    bytes(value as u64)
}

fn first_in(leader: &Line<'_>, lines: &[&Line<'_>], (what, measure, show): Measure) -> Option<Place> {
    // Another compression of the same encoding is not another encoding.
    let own: Vec<&Line<'_>> = lines.iter().filter(|line| line.encoding == leader.encoding).copied().collect();
    let (first, own) = (best(lines, measure, measure)?, best(&own, measure, measure)?);
    let (won, lost) = (measure(first), measure(own));
    if !won.is_finite() {
        return None;
    }
    let compression = if own.compression == leader.compression { String::new() } else { format!(" as {}", own.name()) };
    Some(if first.encoding == leader.encoding {
        Place::Also(format!("{what} ({}{compression})", show(won)))
    } else {
        let level = if lost <= won * EQUAL { ", nearly as good" } else { "" };
        let (first, won, own, lost) = (first.name(), show(won), own.name(), show(lost));
        Place::Lost(format!("But {first} is first in {what}, with {won}; {own} comes to {lost}{level}."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Outcome, Results};
    use crate::sample;

    /// Advice on the sample's first table after a change.
    fn picks(change: impl FnOnce(&mut Results)) -> Vec<(String, String)> {
        let mut results = sample::results();
        change(&mut results);
        let view = View::new(&results, &results.tables[0]).unwrap();
        advise(&view).unwrap().picks.into_iter().map(|pick| (pick.name, pick.sentence)).collect()
    }

    fn measurements(results: &mut Results, cell: usize) -> &mut crate::results::Measurements {
        match &mut results.tables[0].cells[cell].outcome {
            Outcome::Measured(measurements) => measurements,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_purpose_gets_what_fits() {
        let names: Vec<String> = picks(|_| {}).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["columns", "text small:9", "columns"]);
    }

    #[test]
    fn of_equals_the_smaller_or_the_quicker_is_taken() {
        // As quick as the quickest within five percent, and smaller.
        let names = picks(|results| {
            let quickest = measurements(results, 0).times.query.samples.clone();
            measurements(results, 2).times.query.samples = quickest;
        });
        assert_eq!(names[0].0, "columns small:9");
        // As small as the smallest within five percent, and quicker.
        let names = picks(|results| measurements(results, 2).bytes = 1_950_000);
        assert_eq!(names[1].0, "columns small:9");
    }

    #[test]
    fn nobody_is_told_to_convert_in_vain() {
        let picks = picks(|results| {
            for sample in &mut results.tables[0].as_it_is.as_mut().unwrap().query.samples.warm {
                sample.wall_ns = 1_000_000;
            }
        });
        assert!(picks[2].1.ends_with("so converting saves no time"), "{picks:?}");
        assert!(picks[0].1.contains(", no faster than the input itself,"), "{picks:?}");
    }

    #[test]
    fn whoever_wins_anything_is_named() {
        let results = sample::results();
        let view = View::new(&results, &results.tables[0]).unwrap();
        let text = advise(&view).unwrap().firsts.join("\n");
        for sentence in [
            "columns is first in query time, with 2.10 ms.",
            "But text small:9 is first in size, with 1.90 MB; columns small:9 comes to 2.10 MB.",
            "But rows is first in time to convert, with 17.8 ms; columns comes to 20.8 ms.",
            "columns (with statistics) answers in 1.05 ms: 100 % of the rows need not be read.",
        ] {
            assert!(text.contains(sentence), "{sentence}\n{text}");
        }
    }

    #[test]
    fn lines_with_statistics_do_not_compete() {
        let results = sample::results();
        let view = View::new(&results, &results.tables[0]).unwrap();
        let advice = advise(&view).unwrap();
        assert!(advice.query_front.iter().chain(&advice.convert_front).all(|line| !line.statistics));
        assert_eq!(advice.query_front.first().map(|line| line.name()), Some("text small:9".to_owned()));
    }
}
