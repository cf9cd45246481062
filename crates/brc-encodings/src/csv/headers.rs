//! Decides whether the files of one table have a header, jointly for all of them.
//!
//! A first row of years is a header above names, but may look like a row of values above numbers. Files of one table
//! are written alike, so the first row of one file decides for all.

use brc_text::Sniffed;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first rows of the files of one table. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    known: Arc<Mutex<HeadersState>>,
}

#[derive(Debug, Default)]
struct HeadersState {
    headers: HashSet<Vec<String>>,
    /// The first rows taken as values, with their files.
    values: Vec<(PathBuf, Vec<String>)>,
}

impl Headers {
    /// The sniffed dialect; the first row becomes the header if it equals the header of a different file.
    pub(super) fn decide(&self, path: &Path, sniffed: Sniffed) -> Sniffed {
        let mut known = self.known.lock();
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

    /// The files whose first row was taken as values before it turned out to be the header of a different file. They
    /// must be opened again.
    #[must_use]
    pub fn outdated(&self) -> Vec<PathBuf> {
        let known = self.known.lock();
        let outdated = known.values.iter().filter(|(_, first_row)| known.headers.contains(first_row));
        outdated.map(|(path, _)| path.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_text::{DialectOverrides, Sample, sniff};

    /// Whether each has a header, and which must be opened again.
    fn decide(texts: &[&str]) -> (Vec<bool>, Vec<PathBuf>) {
        let headers = Headers::default();
        let has_header = |(number, text): (usize, &&str)| {
            let sniffed = sniff(&[Sample::whole(text.as_bytes())], &DialectOverrides::default());
            headers.decide(Path::new(&number.to_string()), sniffed).dialect.header
        };
        (texts.iter().enumerate().map(has_header).collect(), headers.outdated())
    }

    #[test]
    fn files_share_the_header_decision() {
        assert_eq!(decide(&["id,x\n1,2\n", "id,x\n3,4\n"]), (vec![true, true], vec![]));
        assert_eq!(decide(&["1,2\n3,4\n", "5,6\n7,8\n"]), (vec![false, false], vec![]));
        let [names, again] = ["person,town\nAnna,Oslo\nBob,Rome\n", "person,town\nperson,Bern\n"];
        assert_eq!(decide(&[names, again]), (vec![true, true], vec![]));
        assert_eq!(decide(&[again, names]), (vec![false, true], vec!["0".into()]));
        assert_eq!(decide(&[names, "Anna,Oslo\nAnna,Bern\n"]), (vec![true, false], vec![]));
    }
}
