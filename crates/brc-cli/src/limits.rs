//! What the system allows this process.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Allows as many open files as can be had: the usual limit is low for the sake of programs that use `select`.
pub(crate) fn allow_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // If it cannot be raised, fewer files are open at once.
    let _ = setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit });
}
