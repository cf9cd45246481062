//! Recommends an encoding for each purpose, and says which other encoding is better at what.
//!
//! Everything is computed from measurements; no encoding is favoured by name. Lines answered from statistics are not
//! ranked, because they did not read the data.

use super::best::{Measure, best, cold_query, convert, is_close, memory, once, query, size};
use super::pareto::front;
use super::view::{Line, View};
use crate::quantity::{count, digits, rounded_bytes, time};

/// The conclusions drawn from the results of one table.
pub(crate) struct Advice<'v, 'a> {
    /// The Pareto front of size and query time, smallest first.
    pub(crate) query_front: Vec<&'v Line<'a>>,
    /// The Pareto front of size and conversion time, smallest first.
    pub(crate) convert_front: Vec<&'v Line<'a>>,
    /// One recommendation per purpose.
    pub(crate) picks: Vec<Pick>,
    /// Sentences that name the winner of each measure.
    pub(crate) firsts: Vec<String>,
}

/// The recommendation for one purpose.
pub(crate) struct Pick {
    /// For example "For repeated queries".
    pub(crate) purpose: &'static str,
    pub(crate) name: String,
    pub(crate) sentence: String,
}

/// Derives the advice for one table; `None` if no cell was measured.
pub(crate) fn advise<'v, 'a>(view: &'v View<'a>) -> Option<Advice<'v, 'a>> {
    let lines: Vec<&Line<'a>> = view.reading().collect();
    if lines.is_empty() {
        return None;
    }
    let of = |measure: Measure| {
        let points: Vec<_> = lines.iter().map(|line| (line.bytes as f64, measure(line).value)).collect();
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

fn repeated_queries(view: &View<'_>, lines: &[&Line<'_>]) -> Option<Pick> {
    let level = best(lines, query);
    let first = *level.first()?;
    let faster = |line: &Line<'_>| view.input.query.median / line.query.median.max(1.0);
    let (least, most) = range(&level, |line| faster(line));
    let faster = if least > 1.0 && !is_close(least, 1.0) {
        format!("{} times as fast as the input itself", from_to(least, most, digits))
    } else if is_close(most, 1.0) || most < 1.0 {
        "no faster than the input itself".to_owned()
    } else {
        "hardly faster than the input itself".to_owned()
    };
    let sentence = match level.as_slice() {
        [line] => format!("answers in {}, {faster}, and takes {}", time(line.query.median), view.size(line)),
        _ => format!(
            "are too close to call: they answer in {}, {faster}; {} is the smallest of them with {}",
            span(&level, query, time),
            first.name(),
            view.size(first)
        ),
    };
    Some(Pick { purpose: "For repeated queries", name: names(&level), sentence })
}

fn smallest_size(view: &View<'_>, lines: &[&Line<'_>]) -> Option<Pick> {
    let small = best(lines, size);
    // Among files of equal size take the one that is queried fastest; among equally fast ones the smallest.
    let line = *best(&small, query).first()?;
    let sentence = format!("takes {} and answers in {}", view.size(line), time(line.query.median));
    Some(Pick { purpose: "For the smallest size", name: line.name(), sentence })
}

fn frequent_conversion(view: &View<'_>, lines: &[&Line<'_>]) -> Option<Pick> {
    // An uncompressed copy of the input in its own encoding is not a useful conversion.
    let is_copy = |line: &Line<'_>| line.encoding == view.facts.encoding && line.compression == "none";
    let others: Vec<&Line<'_>> = lines.iter().filter(|line| !is_copy(line)).copied().collect();
    let level = best(&others, once);
    let Some(&first) = level.first() else {
        let sentence = "needs no conversion; nothing but a copy of it was measured".to_owned();
        return Some(Pick { purpose: "For frequent conversion", name: view.input.name(), sentence });
    };
    let subject = if level.len() == 1 { String::new() } else { format!("; {} is the smallest of them", first.name()) };
    let verb = if level.len() == 1 { "takes" } else { "are too close to call: they take" };
    let sentence = format!(
        "{verb} {} to convert and query once{subject}{}",
        span(&level, once, time),
        match queries_to_pay(view, first) {
            Some(1) => ", less than querying the input itself".to_owned(),
            Some(queries) => format!(", and pays off after {} queries", count(queries)),
            None => "; the input itself answers as fast, so converting saves no time".to_owned(),
        }
    );
    Some(Pick { purpose: "For frequent conversion", name: names(&level), sentence })
}

/// The number of queries after which converting plus querying is faster than querying the input; `None` if never.
fn queries_to_pay(view: &View<'_>, line: &Line<'_>) -> Option<u64> {
    let saved = view.input.query.median - line.query.median;
    (saved > 0.0).then(|| (convert(line).value / saved).ceil().max(1.0) as u64)
}

/// The names of lines, as in "a, b and c"; a long list is cut with "n others".
fn names(lines: &[&Line<'_>]) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<String> = lines.iter().take(SHOWN).map(|line| line.name()).collect();
    let others = lines.len() - names.len();
    if others > 0 {
        names.push(format!("{others} {}", if others == 1 { "other" } else { "others" }));
    }
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

fn range(lines: &[&Line<'_>], value: impl Fn(&Line<'_>) -> f64) -> (f64, f64) {
    let values = || lines.iter().map(|line| value(line));
    (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
}

/// The range of a measure over lines, from the smallest to the largest value.
fn span(lines: &[&Line<'_>], measure: Measure, show: fn(f64) -> String) -> String {
    let (least, most) = range(lines, |line| measure(line).value);
    from_to(least, most, show)
}

fn from_to(least: f64, most: f64, show: fn(f64) -> String) -> String {
    let (least, most) = (show(least), show(most));
    if least == most { least } else { format!("{least} to {most}") }
}

/// Names the winner of each measure. Where an encoding other than the fastest to query wins, both values are given.
fn firsts(view: &View<'_>, lines: &[&Line<'_>]) -> Vec<String> {
    let level = best(lines, query);
    let Some(leader) = level.first().copied() else { return Vec::new() };
    let mut measures: Vec<Ranking> = vec![
        ("size", size, rounded_bytes),
        ("time to convert", convert, time),
        ("converting and querying once", once, time),
        ("memory for a query", memory, rounded_bytes),
    ];
    if lines.iter().any(|line| line.cold.is_some()) {
        measures.push(("query time from a cold cache", cold_query, time));
    }
    let (mut also, mut lost) = (Vec::new(), Vec::new());
    for measure in measures {
        match standing_in(leader, lines, measure) {
            Some(Standing::First(words)) => also.push(words),
            Some(Standing::Behind(sentence)) if lost.is_empty() => lost.push(format!("But {sentence}")),
            Some(Standing::Behind(sentence)) => lost.push(sentence),
            None => {}
        }
    }
    let figure = span(&level, query, time);
    let mut sentences = vec![match level.as_slice() {
        [line] => format!("{} is first in query time, with {figure}.", line.name()),
        _ => format!("{} tie for first in query time, with {figure}.", names(&level)),
    }];
    if !also.is_empty() {
        sentences.push(format!("{} is also first in {}.", leader.encoding, also.join(", in ")));
    }
    sentences.append(&mut lost);
    for line in view.lines.iter().filter(|line| line.statistics && line.compression == leader.compression) {
        let share = line.summarised_rows as f64 / view.facts.rows.max(1) as f64 * 100.0;
        let (name, time) = (line.name(), time(line.query.median));
        sentences.push(format!("{name} answers in {time}: {} % of the rows need not be read.", digits(share)));
    }
    sentences
}

/// A measure: its name, its value for a line, and its formatter.
type Ranking = (&'static str, Measure, fn(f64) -> String);

/// The rank of the leading encoding in one measure.
enum Standing {
    /// It is first, alone or with others: the measure with its value.
    First(String),
    /// Another encoding is first: a whole sentence.
    Behind(String),
}

fn standing_in(leader: &Line<'_>, lines: &[&Line<'_>], (what, measure, show): Ranking) -> Option<Standing> {
    let level = best(lines, measure);
    level.first()?;
    // A different compression of the same encoding is not a different encoding.
    let is_own = |line: &&&Line<'_>| line.encoding == leader.encoding;
    let least = |one: &&&Line<'_>, other: &&&Line<'_>| measure(one).value.total_cmp(&measure(other).value);
    if let Some(own) = level.iter().filter(is_own).min_by(least) {
        let name = if own.compression == leader.compression { String::new() } else { format!(" as {}", own.name()) };
        let others: Vec<&Line<'_>> = level.iter().filter(|line| !is_own(line)).copied().collect();
        let others = if others.is_empty() { String::new() } else { format!(", on a par with {}", names(&others)) };
        return Some(Standing::First(format!("{what} ({}{name}{others})", show(measure(own).value))));
    }
    let own = lines.iter().filter(is_own).min_by(least)?;
    let (are, won, figure) =
        (if level.len() == 1 { "is" } else { "are" }, span(&level, measure, show), show(measure(own).value));
    let (first, own) = (names(&level), own.name());
    Some(Standing::Behind(format!("{first} {are} first in {what}, with {won}; {own} has {figure}.")))
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
    fn each_purpose_gets_a_recommendation() {
        let names: Vec<String> = picks(|_| {}).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["columns", "text small:9", "columns"]);
    }

    #[test]
    fn a_copy_of_the_input_is_no_conversion() {
        let picks =
            picks(|results| results.tables[0].cells.retain(|it| it.encoding == "text" && it.compression == "none"));
        let expected = ("the input", "needs no conversion; nothing but a copy of it was measured");
        assert_eq!((picks[2].0.as_str(), picks[2].1.as_str()), expected);
    }

    #[test]
    fn ties_are_all_named_and_broken_by_size_or_speed() {
        // Within 5 % of the fastest, and smaller.
        let names = picks(|results| {
            let quickest = measurements(results, 0).times.query.samples.clone();
            measurements(results, 2).times.query.samples = quickest;
        });
        assert_eq!(names[0].0, "columns small:9 and columns");
        let words = "are too close to call: they answer in 2.10 ms, 4.67 times as fast as the input itself; \
                     columns small:9 is the smallest of them";
        assert!(names[0].1.starts_with(words), "{}", names[0].1);
        // Within 5 % of the smallest, and faster.
        let names = picks(|results| measurements(results, 2).bytes = 1_950_000);
        assert_eq!(names[1].0, "columns small:9");
    }

    /// Three runs of the same comparison differ by noise; they must not recommend three different winners.
    #[test]
    fn noise_does_not_change_the_advice() {
        let run = |factors: [u64; 3]| {
            picks(|results| {
                let wide = [80, 90, 100, 110, 120];
                for (cell, factor) in factors.into_iter().enumerate() {
                    let warm = &mut measurements(results, cell).times.query.samples.warm;
                    for (sample, percent) in warm.iter_mut().zip(wide) {
                        sample.wall_ns = 2_000 * factor * percent / 100 * 10;
                    }
                }
            })[0]
                .0
                .clone()
        };
        for factors in [[100, 108, 104], [108, 100, 104], [106, 108, 100]] {
            assert_eq!(run(factors), "columns small:9, columns fast and columns", "{factors:?}");
        }
    }

    #[test]
    fn conversion_is_not_recommended_if_the_input_is_as_fast() {
        let picks = picks(|results| {
            for sample in &mut results.tables[0].as_it_is.as_mut().unwrap().query.samples.warm {
                sample.wall_ns = 1_000_000;
            }
        });
        assert!(picks[2].1.ends_with("so converting saves no time"), "{picks:?}");
        assert!(picks[0].1.contains(", no faster than the input itself,"), "{picks:?}");
    }

    #[test]
    fn the_winner_of_each_measure_is_named() {
        let results = sample::results();
        let view = View::new(&results, &results.tables[0]).unwrap();
        let text = advise(&view).unwrap().firsts.join("\n");
        for sentence in [
            "columns is first in query time, with 2.10 ms.",
            "But text small:9 is first in size, with 1.90 MB; columns small:9 has 2.10 MB.",
            "\nrows is first in time to convert, with 17.8 ms; columns has 20.8 ms.",
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
