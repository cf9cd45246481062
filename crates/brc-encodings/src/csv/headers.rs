//! Whether the files of one table begin with a header, decided for all of them together.
//!
//! A first row of years is a header above names, and may be taken for a row above numbers. Files of one table are written
//! in the same way, so what the first row of one file says holds for all.

use brc_text::Sniffed;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the first rows of the files of one table are. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    headers: HashSet<Vec<String>>,
    /// The first rows that were taken for values, with their files.
    values: Vec<(PathBuf, Vec<String>)>,
}

impl Headers {
    /// The same, with its first row as the header if it is that of another file.
    pub(super) fn decide(&self, path: &Path, sniffed: Sniffed) -> Sniffed {
        let mut known = self.known();
        if sniffed.dialect.header {
            known.headers.insert(sniffed.first_row.clone());
            return sniffed;
        }
        if known.headers.contains(&sniffed.first_row) {
            return sniffed.with_header();
        }
        known.values.push((path.to_owned(), sniffed.first_row.clone()));
        sniffed
    }

    /// The files whose first row was taken for values before it was found to be the header of another file. They are
    /// right once they are opened again.
    #[must_use]
    pub fn outdated(&self) -> Vec<PathBuf> {
        let known = self.known();
        let outdated = known.values.iter().filter(|(_, first_row)| known.headers.contains(first_row));
        outdated.map(|(path, _)| path.clone()).collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_text::{DialectOverrides, Sample, sniff};

    /// Whether each has a header, and which are to be opened again.
    fn decide(texts: &[&str]) -> (Vec<bool>, Vec<PathBuf>) {
        let headers = Headers::default();
        let has_header = |(number, text): (usize, &&str)| {
            let sniffed = sniff(&[Sample::whole(text.as_bytes())], &DialectOverrides::default());
            headers.decide(Path::new(&number.to_string()), sniffed).dialect.header
        };
        (texts.iter().enumerate().map(has_header).collect(), headers.outdated())
    }

    #[test]
    fn files_decide_together() {
        assert_eq!(decide(&["id,x\n1,2\n", "id,x\n3,4\n"]), (vec![true, true], vec![]));
        assert_eq!(decide(&["1,2\n3,4\n", "5,6\n7,8\n"]), (vec![false, false], vec![]));
        let [names, again] = ["name,city\nAnna,Oslo\nBob,Rome\n", "name,city\nname,Bern\n"];
        assert_eq!(decide(&[names, again]), (vec![true, true], vec![]));
        assert_eq!(decide(&[again, names]), (vec![false, true], vec!["0".into()]));
        assert_eq!(decide(&[names, "Anna,Oslo\nAnna,Bern\n"]), (vec![true, false], vec![]));
    }
}
