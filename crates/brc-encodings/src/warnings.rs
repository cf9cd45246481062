//! Warnings that arise while a file is read, after the table was opened and printed its notes.

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static HANDLER: OnceLock<fn(&Path, &str)> = OnceLock::new();

/// The warnings issued so far, with their files.
static SAID: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// Sets the handler of warnings: it receives a file, and a sentence that does not name it. Without a handler,
/// warnings are dropped. Only the first handler is used.
pub fn on_warning(handler: fn(&Path, &str)) {
    let _ = HANDLER.set(handler);
}

/// Issues a warning about a file once, however often the file is read.
pub(crate) fn warn(path: &Path, text: &str) {
    let Some(handler) = HANDLER.get() else { return };
    let mut said = SAID.lock();
    if !said.iter().any(|(known, before)| known == path && before == text) {
        said.push((path.to_owned(), text.to_owned()));
        handler(path, text);
    }
}
