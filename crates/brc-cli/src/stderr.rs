//! Standard error, where messages go.
//!
//! Messages accompany a result. Where standard error is closed or its disk is full they are lost, but the result is not,
//! and the exit code stays the same.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Writes a line to standard error, if that takes it.
macro_rules! message {
    ($($argument:tt)*) => {
        $crate::stderr::line(format_args!($($argument)*))
    };
}

/// What `message!` does.
pub(crate) fn line(text: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
