//! Unique column names.
//!
//! Columns are addressed by name, but headers may repeat names or leave them empty.

use std::collections::{HashMap, HashSet};

/// Unique, non-empty names for columns with the header `own`, in the same order.
///
/// The first column of a name keeps it, later ones are named `name_1`, `name_2` …; a column without a name is named
/// `column_` and its number, from 1. A generated name never equals a name of the header.
pub fn unique_names<'a>(own: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let own: Vec<&str> = own.into_iter().collect();
    let mut names = Names { taken: own.iter().map(|&name| name.to_owned()).collect(), last: HashMap::new() };
    let mut seen = HashSet::new();
    let name = |(index, name)| match name {
        "" => names.unique(format!("column_{}", index + 1)),
        _ if seen.insert(name) => name.to_owned(),
        _ => names.next(name),
    };
    own.into_iter().enumerate().map(name).collect()
}

/// The maximum number of renamed columns that [`renamed`] lists.
const MAX_LISTED: usize = 5;

/// A note for the user about columns that did not keep their `own` names; `None` if all did.
pub fn renamed<'a>(own: impl IntoIterator<Item = &'a str>, names: &[String]) -> Option<String> {
    let columns = (1..).zip(own).zip(names).filter(|((_, own), name)| own != name);
    let mut columns: Vec<_> = columns
        .map(|((number, own), name)| match own {
            "" => format!("column {number}, which has no name, is called '{name}'"),
            _ => format!("column {number}, also named '{own}', is called '{name}'"),
        })
        .collect();
    if columns.len() > MAX_LISTED {
        let more = columns.len() - MAX_LISTED;
        columns.truncate(MAX_LISTED);
        columns.push(format!("{more} more columns are renamed"));
    }
    (!columns.is_empty()).then(|| columns.join("; "))
}

/// Names for the columns of a table without a header: `column_1`, `column_2` …
pub fn numbered_names(columns: usize) -> Vec<String> {
    (1..=columns).map(|number| format!("column_{number}")).collect()
}

struct Names {
    taken: HashSet<String>,
    /// The last number appended to each name.
    last: HashMap<String, u64>,
}

impl Names {
    fn unique(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) { name } else { self.next(&name) }
    }

    /// The first of `name_1`, `name_2` … that is still free.
    fn next(&mut self, name: &str) -> String {
        let number = self.last.entry(name.to_owned()).or_default();
        loop {
            *number += 1;
            let name = format!("{name}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn duplicate_and_empty_names_are_made_unique() {
        assert_eq!(unique_names(["a", "b", "a", "", "a"]), ["a", "b", "a_1", "column_4", "a_2"]);
        assert_eq!(unique_names(["a", "a", "a_1"]), ["a", "a_2", "a_1"]);
        assert_eq!(unique_names(["", "column_1", " x ", "x", "X"]), ["column_1_1", "column_1", " x ", "x", "X"]);
        assert_eq!(unique_names(["column_2", ""]), ["column_2", "column_2_1"]);
        assert_eq!(unique_names([]), [""; 0]);
        assert_eq!(numbered_names(2), ["column_1", "column_2"]);
    }

    #[test]
    fn renamed_columns_are_listed() {
        let note = |own: &[&str]| renamed(own.iter().copied(), &unique_names(own.iter().copied()));
        assert_eq!(note(&["a", "b"]), None);
        let expected = "column 2, also named 'a', is called 'a_1'; column 3, which has no name, is called 'column_3'";
        assert_eq!(note(&["a", "a", ""]).unwrap(), expected);
        assert!(note(&[""; 9]).unwrap().ends_with("'column_5'; 4 more columns are renamed"));
    }

    proptest! {
        #[test]
        fn names_are_unique(header in prop::collection::vec("a?(_1|_2)?|column_[1-3]", 0..12)) {
            let names = unique_names(header.iter().map(String::as_str));
            let unique: HashSet<&String> = names.iter().collect();
            prop_assert_eq!((names.len(), unique.len()), (header.len(), header.len()));
            prop_assert!(names.iter().all(|name| !name.is_empty()));
        }
    }
}
