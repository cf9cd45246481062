//! What functions of regular expressions have in common. A pattern is a constant: it is compiled when a query is bound.

use super::{Mismatch, constant_text, refuse};
use crate::functions::typed::Typed;
use regex::bytes::{Regex, RegexBuilder};

/// A pattern with its options.
pub(super) struct Pattern {
    pub(super) regex: Regex,
    /// Whether it is for all matches: option `g`.
    pub(super) global: bool,
}

impl Pattern {
    /// That of one argument, with the options of another, if it is there.
    pub(super) fn of(arguments: &[Typed], index: usize, options: usize) -> Result<Self, Mismatch> {
        let text = constant_text(arguments, index)?;
        let Ok(text) = std::str::from_utf8(&text) else { return refuse(index, "needs a UTF-8 pattern") };
        let (mut builder, mut global) = (RegexBuilder::new(text), false);
        if arguments.len() > options {
            for option in constant_text(arguments, options)? {
                match option {
                    b'g' => global = true,
                    b'c' => drop(builder.case_insensitive(false)),
                    b'i' => drop(builder.case_insensitive(true)),
                    b's' => drop(builder.dot_matches_new_line(true)),
                    _ => return refuse(options, "needs options among i (ignore case), c, s (dot matches \\n) and g"),
                }
            }
        }
        match builder.build() {
            Ok(regex) => Ok(Self { regex, global }),
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                refuse(index, format!("needs a regular expression: {reason}"))
            }
        }
    }

    /// The number of its groups in parentheses.
    pub(super) fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }
}
