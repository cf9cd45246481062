//! A session of DataFusion that knows brc.

use crate::aggregate::AggregateInFile;
use datafusion::common::config::{ConfigExtension, ConfigOptions};
use datafusion::common::extensions_options;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// The option that keeps brc from grouping rows: `set brc.aggregate = false`.
pub const AGGREGATE_OPTION: &str = "brc.aggregate";

extensions_options! {
    /// What brc does in a session.
    pub(crate) struct BrcOptions {
        /// Whether brc groups the rows of its own tables.
        pub(crate) aggregate: bool, default = true
    }
}

impl ConfigExtension for BrcOptions {
    const PREFIX: &'static str = "brc";
}

/// Whether brc groups the rows of its own tables.
pub(crate) fn is_aggregating(options: &ConfigOptions) -> bool {
    options.extensions.get::<BrcOptions>().is_none_or(|options| options.aggregate)
}

/// A session with so many threads, in which brc groups the rows of its own tables.
#[must_use]
pub fn session(threads: usize) -> SessionContext {
    let mut config = SessionConfig::new()
        .with_target_partitions(threads)
        .with_information_schema(true)
        .with_option_extension(BrcOptions::default());
    // Columns have the names that are written in the file.
    config.options_mut().sql_parser.enable_ident_normalization = false;
    config.options_mut().sql_parser.collect_spans = true;
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_optimizer_rule(Arc::new(AggregateInFile))
        .build();
    SessionContext::new_with_state(state)
}
