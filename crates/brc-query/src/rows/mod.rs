//! R

pub(crate) mod first;
pub(crate) mod picked;
pub(crate) mod selected;
pub(crate) mod sorted;
mod top_k_prefilter;
