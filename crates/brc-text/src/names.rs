//! The names of columns.
//!
//! Columns are asked for by name, so every column needs one of its own; headers repeat names and leave them empty.

use std::collections::{HashMap, HashSet};

/// Names for the columns of a table whose header has these fields: unique, not empty, in their order.
///
/// Blanks around a name are left out. The first column of a name keeps it, the next are `name_1`, `name_2` …; a column
/// without a name is `column_` and its number, 1 for the first. A name that another column has by itself is never given.
pub fn column_names<S: AsRef<str>>(header: &[S]) -> Vec<String> {
    let own: Vec<&str> = header.iter().map(|name| name.as_ref().trim()).collect();
    let mut names = Names { taken: own.iter().map(|&name| name.to_owned()).collect(), last: HashMap::new() };
    let mut seen = HashSet::new();
    let name = |(index, name)| match name {
        "" => names.unique(format!("column_{}", index + 1)),
        _ if seen.insert(name) => name.to_owned(),
        _ => names.next(name),
    };
    own.into_iter().enumerate().map(name).collect()
}

/// Names for the columns of a table without a header: `column_1`, `column_2` …
pub fn numbered_names(columns: usize) -> Vec<String> {
    (1..=columns).map(|number| format!("column_{number}")).collect()
}

struct Names {
    taken: HashSet<String>,
    /// The number that each name was last given.
    last: HashMap<String, u64>,
}

impl Names {
    fn unique(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) { name } else { self.next(&name) }
    }

    /// The next of `name_1`, `name_2` … that is free.
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
        assert_eq!(column_names(&["a", "b", "a", "", "a"]), ["a", "b", "a_1", "column_4", "a_2"]);
        assert_eq!(column_names(&["a", "a", "a_1"]), ["a", "a_2", "a_1"]);
        assert_eq!(column_names(&["", "column_1", " x "]), ["column_1_1", "column_1", "x"]);
        assert_eq!(column_names(&["column_2", " "]), ["column_2", "column_2_1"]);
        assert_eq!(column_names::<&str>(&[]), [""; 0]);
        assert_eq!(numbered_names(2), ["column_1", "column_2"]);
    }

    proptest! {
        #[test]
        fn names_are_unique(header in prop::collection::vec("a?(_1|_2)?|column_[1-3]", 0..12)) {
            let names = column_names(&header);
            let unique: HashSet<&String> = names.iter().collect();
            prop_assert_eq!((names.len(), unique.len()), (header.len(), header.len()));
            prop_assert!(names.iter().all(|name| !name.is_empty()));
        }
    }
}
