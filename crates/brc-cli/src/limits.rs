//! Resource limits of this process.

/// Raises the limit on open files to the maximum; the default is low for programs that use `select`.
#[cfg(unix)]
pub(crate) fn raise_open_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // If this fails, fewer files are open at once.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// This system has no such limit.
#[cfg(not(unix))]
pub(crate) fn raise_open_file_limit() {}
