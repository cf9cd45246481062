//! A

pub(crate) mod accumulators;
mod empty;
pub(crate) mod filtered_values;
pub(crate) mod partial;
mod scatter;
