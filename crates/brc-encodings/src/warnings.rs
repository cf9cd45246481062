//! Warnings that arise while a file is read, after the table was opened and printed its notes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

static HANDLER: OnceLock<fn(&Path, &str)> = OnceLock::new();

/// What was said of which file.
static SAID: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// Has warnings handed to `handler`: a file, and a sentence that does not name it. Until then there are none. Only the
/// first handler counts.
pub fn on_warning(handler: fn(&Path, &str)) {
    let _ = HANDLER.set(handler);
}

/// Says something about a file, once, however often the file is read.
pub(crate) fn warn(path: &Path, text: &str) {
    let Some(handler) = HANDLER.get() else { return };
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.iter().any(|(known, before)| known == path && before == text) {
        said.push((path.to_owned(), text.to_owned()));
        handler(path, text);
    }
}
