//! F

pub(crate) mod groups;
pub(crate) mod order;
