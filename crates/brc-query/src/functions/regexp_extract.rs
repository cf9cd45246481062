//! `regexp_extract(s, pattern, group)`: the first part of a string that matches a regular expression, or a group of it.

use super::pattern::Pattern;
use super::{Bound, Function, Mismatch, constant_integer, count, refuse, string};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static REGEXP_EXTRACT: Function = Function {
    name: "regexp_extract",
    aliases: &["regexp_substr"],
    usage: "regexp_extract(s, pattern[, group[, options]])",
    about: "the first part of s that matches a regular expression, or its group of that number; '' if there is none",
    example: ("regexp_extract('order 66', '([a-z]+) ([0-9]+)', 2)", "66"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=4, REGEXP_EXTRACT.usage)?;
    string(arguments, 0)?;
    let pattern = Pattern::of(arguments, 1, 3)?;
    let group = if arguments.len() > 2 { constant_integer(arguments, 2)? } else { 0 };
    let group = match usize::try_from(group) {
        Ok(group) if group <= pattern.groups() => group,
        _ => return refuse(2, format!("needs the number of a group of its pattern, from 0 to {}", pattern.groups())),
    };
    let regex = pattern.regex;
    Ok(Bound::new(LogicalType::String, move |views, rows| {
        let mut locations = regex.capture_locations();
        rows.strings(|row, out| {
            let text = views[0].bytes(row);
            let found = match group {
                0 => regex.find(text).map(|found| found.range()),
                _ => {
                    let found = regex.captures_read(&mut locations, text);
                    found.and_then(|_| locations.get(group)).map(|(start, end)| start..end)
                }
            };
            out.extend_from_slice(found.map_or(&[], |range| &text[range]));
        })
    }))
}
