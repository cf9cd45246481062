//! Sessions of DataFusion with support for brc.

use crate::aggregate::AggregateInFile;
use crate::format::register_formats;
use crate::functions::{ExactFunctions, register_functions};
use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::common::{plan_datafusion_err, plan_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::optimizer::single_distinct_to_groupby::SingleDistinctToGroupBy;
use datafusion::optimizer::{Optimizer, OptimizerRule};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::any::Any;
use std::fmt::{self, Display};
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

/// The option that keeps brc from grouping rows: `set brc.aggregate = off`.
pub const AGGREGATE_OPTION: &str = "brc.aggregate";

/// The option that makes tables readable in partitions on other machines: `set brc.cluster = on`.
pub const CLUSTER_OPTION: &str = "brc.cluster";

/// The options of brc in a session.
#[derive(Debug, Clone)]
pub(crate) struct BrcOptions {
    /// Whether brc groups the rows of its own tables.
    aggregate: Switch,
    /// Whether parts of a table may be read by several machines.
    cluster: Switch,
}

impl Default for BrcOptions {
    fn default() -> Self {
        Self { aggregate: Switch(true), cluster: Switch(false) }
    }
}

impl ConfigExtension for BrcOptions {
    const PREFIX: &'static str = "brc";
}

impl ExtensionOptions for BrcOptions {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "aggregate" => self.aggregate = value.parse()?,
            "cluster" => self.cluster = value.parse()?,
            _ => return plan_err!("there is no option brc.{key}"),
        }
        Ok(())
    }

    /// With their full names, so that they are sent to other machines.
    fn entries(&self) -> Vec<ConfigEntry> {
        let entry = |key: &str, value: &Switch, description| ConfigEntry {
            key: key.to_owned(),
            value: Some(value.to_string()),
            description,
        };
        vec![
            entry(AGGREGATE_OPTION, &self.aggregate, "Whether brc groups the rows of its own tables"),
            entry(CLUSTER_OPTION, &self.cluster, "Whether parts of a table may be read by several machines"),
        ]
    }
}

/// A value `on` or `off`.
#[derive(Debug, Clone, PartialEq)]
struct Switch(bool);

impl FromStr for Switch {
    type Err = DataFusionError;

    fn from_str(value: &str) -> Result<Self> {
        match value.to_ascii_lowercase().as_str() {
            "on" | "true" => Ok(Self(true)),
            "off" | "false" => Ok(Self(false)),
            _ => Err(plan_datafusion_err!("'{value}' is neither on nor off")),
        }
    }
}

impl Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "on" } else { "off" })
    }
}

/// Whether brc groups the rows of its own tables.
pub(crate) fn is_aggregating(options: &ConfigOptions) -> bool {
    options.extensions.get::<BrcOptions>().is_none_or(|options| options.aggregate.0)
}

/// Whether parts of a table may be read by several machines.
pub(crate) fn is_in_cluster(options: &ConfigOptions) -> bool {
    options.extensions.get::<BrcOptions>().is_some_and(|options| options.cluster.0)
}

/// A session with the given number of threads, in which brc groups the rows of its own tables.
#[must_use]
pub fn session(threads: usize) -> SessionContext {
    session_in(threads, SessionConfig::new(), Arc::default())
}

/// Like [`session()`], with a memory limit in bytes for operators that account for their memory. Beyond that they spill
/// to temporary files.
///
/// # Errors
/// If temporary files cannot be created.
pub fn session_within(threads: usize, memory: usize) -> Result<SessionContext> {
    let pool = Arc::new(TrackConsumersPool::new(FairSpillPool::new(memory), LISTED_CONSUMERS));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc()?;
    let config = SessionConfig::new();
    // The reservation of each sort for merging must leave memory for rows.
    let merging =
        config.options().execution.sort_spill_reservation_bytes.min(memory / threads.max(1) / SORTS_PER_PARTITION);
    Ok(session_in(threads, config.with_sort_spill_reservation_bytes(merging), runtime))
}

/// The maximum number of sorts per partition of a query, counting reservations and sorted rows.
const SORTS_PER_PARTITION: usize = 8;

/// The number of largest memory consumers listed in errors.
const LISTED_CONSUMERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

fn session_in(threads: usize, config: SessionConfig, runtime: Arc<RuntimeEnv>) -> SessionContext {
    let config = with_brc(config).with_target_partitions(threads).with_information_schema(true);
    let mut state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features()
        .with_optimizer_rules(rules())
        .build();
    // Registration fails only for duplicate extensions, which do not occur, and if the session were read-only.
    let _ = (register_formats(&mut state), register_functions(&mut state));
    SessionContext::new_with_state(state)
}

/// The configuration of a session that knows brc.
pub(crate) fn with_brc(config: SessionConfig) -> SessionConfig {
    let mut config = config.with_option_extension(BrcOptions::default());
    // Keep column names as they are in the file.
    config.options_mut().sql_parser.enable_ident_normalization = false;
    config.options_mut().sql_parser.collect_spans = true;
    config
}

/// DataFusion's optimizer rules, and those that let brc group rows and replace functions.
pub(crate) fn rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    // They run after filters are pushed down, and before distinct aggregates are rewritten to groups.
    let position = rules.iter().position(|rule| rule.name() == SingleDistinctToGroupBy::new().name());
    let position = position.unwrap_or(rules.len());
    let own: [Arc<dyn OptimizerRule + Send + Sync>; 2] =
        [Arc::new(AggregateInFile), Arc::new(ExactFunctions::default())];
    rules.splice(position..position, own);
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn grouping_by_brc_can_be_switched() {
        let context = session(1);
        let is_on = || is_aggregating(context.state().config_options());
        for (value, expected) in [("off", false), ("on", true), ("FALSE", false), ("true", true)] {
            context.sql(&format!("set {AGGREGATE_OPTION} = {value}")).await.unwrap();
            assert_eq!(is_on(), expected, "{value}");
        }
        let refused = context.sql(&format!("set {AGGREGATE_OPTION} = maybe")).await.unwrap_err();
        assert!(refused.to_string().contains("'maybe' is neither on nor off"), "{refused}");
    }
}
