//! Sorts that end early when the query is interrupted: with millions of rows they take longer than a user waits after
//! Ctrl-C.

use brc_core::{Error, Result, interrupt};
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload of the unwinding that ends a sort, since sorts of the standard library cannot fail.
struct Ended;

/// Sorts by a comparison.
///
/// # Errors
/// [`Error::Interrupted`]; then the order is any.
pub(crate) fn sort_by<T>(all: &mut [T], compare: impl Fn(&T, &T) -> Ordering) -> Result<()> {
    ending(|| all.sort_unstable_by(checked(compare)))
}

/// Partitions around the element that sorting would put at index `place`: smaller ones come before it, larger after.
///
/// # Errors
/// [`Error::Interrupted`]; then the order is any.
pub(crate) fn select_by<T>(all: &mut [T], place: usize, compare: impl Fn(&T, &T) -> Ordering) -> Result<()> {
    ending(|| {
        all.select_nth_unstable_by(place, checked(compare));
    })
}

fn checked<T>(compare: impl Fn(&T, &T) -> Ordering) -> impl Fn(&T, &T) -> Ordering {
    move |one, other| {
        if interrupt::check().is_err() {
            // No panic: nothing is reported, and `ending` catches it.
            resume_unwind(Box::new(Ended));
        }
        compare(one, other)
    }
}

fn ending(sort: impl FnOnce()) -> Result<()> {
    // Elements are only swapped, so that each is still there, once.
    match catch_unwind(AssertUnwindSafe(sort)) {
        Ok(()) => Ok(()),
        Err(cause) if cause.is::<Ended>() => Err(Error::Interrupted),
        Err(cause) => resume_unwind(cause),
    }
}
