//! Whether the files of one table begin with a header, decided for all of them together.
//!
//! A first row of years is a header above names, and may be taken for a row above numbers. Files of one table are written
//! in the same way, so what the first row of one file says holds for all.

use brc_text::Sniffed;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the first rows of the files of one table say. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    files: Arc<Mutex<Vec<FirstRow>>>,
}

#[derive(Debug)]
struct FirstRow {
    path: PathBuf,
    is_header: bool,
    weight: i32,
    fields: Vec<String>,
}

impl Headers {
    pub(super) fn add(&self, path: &Path, sniffed: &Sniffed) {
        let Sniffed { header_weight: weight, first_row, dialect, .. } = sniffed;
        let (path, fields) = (path.to_owned(), first_row.clone());
        self.files().push(FirstRow { path, is_header: dialect.header, weight: *weight, fields });
    }

    /// Whether all files begin with a header, and the files that were opened as if it were otherwise; `None` if all agree.
    #[must_use]
    pub fn decide(&self) -> Option<(bool, Vec<PathBuf>)> {
        let files = self.files();
        let (first, others) = files.split_first()?;
        if others.iter().all(|file| file.is_header == first.is_header) {
            return None;
        }
        let are_same = others.iter().all(|file| file.fields == first.fields);
        let weight: i32 = files.iter().map(|file| file.weight).sum();
        let is_header = are_same || weight > 0;
        let wrong = files.iter().filter(|file| file.is_header != is_header);
        Some((is_header, wrong.map(|file| file.path.clone()).collect()))
    }

    fn files(&self) -> MutexGuard<'_, Vec<FirstRow>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_text::{DialectOverrides, Sample, sniff};

    fn decide(texts: &[&str]) -> Option<(bool, Vec<PathBuf>)> {
        let headers = Headers::default();
        for (number, text) in texts.iter().enumerate() {
            let sniffed = sniff(&[Sample::whole(text.as_bytes())], &DialectOverrides::default());
            headers.add(Path::new(&number.to_string()), &sniffed);
        }
        headers.decide()
    }

    #[test]
    fn files_decide_together() {
        assert_eq!(decide(&["id,x\n1,2\n", "id,x\n3,4\n"]), None);
        assert_eq!(decide(&["1,2\n3,4\n", "5,6\n7,8\n"]), None);
        assert_eq!(decide(&["a,b\nx,y\nz,y\n", "a,b\na,y\n"]), Some((true, vec!["1".into()])));
        assert_eq!(decide(&["id,x\n1,2\n2,2\n", "5,6\n7,8\n"]), Some((true, vec!["1".into()])));
    }
}
