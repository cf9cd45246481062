//! x
use super::results::Results;
use super::view::View;
pub(crate) fn render(_: &Results, _: &[View<'_>]) -> String { String::new() }
