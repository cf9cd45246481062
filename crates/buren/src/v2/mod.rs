//! Version 2 of the format: the schemes of its blocks.

pub mod strings;
