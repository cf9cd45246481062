//! Text tables.

#![forbid(unsafe_code)]
