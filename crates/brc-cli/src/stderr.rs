//! Writes messages to standard error.
//!
//! Messages accompany a result. If standard error is closed or its disk is full they are lost, but the result and the
//! exit code stay the same.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Writes a line to standard error, ignoring errors.
macro_rules! message {
    ($($argument:tt)*) => {
        $crate::stderr::line(format_args!($($argument)*))
    };
}

/// Writes a line to standard error, ignoring errors: what `message!` calls.
pub fn line(text: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
