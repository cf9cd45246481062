//! S

pub(crate) mod computed;
pub(crate) mod conditions;
pub(crate) mod filtered_batch;
mod options;
pub(crate) mod selector;
pub(crate) mod totals;
