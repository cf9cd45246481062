//! R

pub(crate) mod interruptible_sort;
pub(crate) mod memory;
pub(crate) mod parallel;
