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
    fields: Vec<String>,
}

impl Headers {
    pub(super) fn add(&self, path: &Path, sniffed: &Sniffed) {
        let Sniffed { first_row, dialect, .. } = sniffed;
        let (path, fields) = (path.to_owned(), first_row.clone());
        self.files().push(FirstRow { path, is_header: dialect.header, fields });
    }

    /// The files whose first row was taken for values although it is the header of another file; `None` if there are none.
    #[must_use]
    pub fn decide(&self) -> Option<Vec<PathBuf>> {
        let files = self.files();
        let header = &files.iter().find(|file| file.is_header)?.fields;
        let wrong = files.iter().filter(|file| !file.is_header && file.fields == *header);
        let wrong: Vec<_> = wrong.map(|file| file.path.clone()).collect();
        (!wrong.is_empty()).then_some(wrong)
    }

    fn files(&self) -> MutexGuard<'_, Vec<FirstRow>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_text::{DialectOverrides, Sample, sniff};

    fn decide(texts: &[&str]) -> Option<Vec<PathBuf>> {
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
        let names = "name,city\nAnna,Oslo\nBob,Rome\n";
        assert_eq!(decide(&[names, "name,city\nname,Bern\n"]), Some(vec!["1".into()]));
        assert_eq!(decide(&[names, "Anna,Oslo\nAnna,Bern\n"]), None);
    }
}
