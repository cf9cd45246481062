//! What the system allows this process.

/// Allows as many open files as can be had: the usual limit is low for the sake of programs that use `select`.
#[cfg(unix)]
pub(crate) fn allow_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // If it cannot be raised, fewer files are open at once.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// There is no such limit.
#[cfg(not(unix))]
pub(crate) fn allow_open_files() {}
