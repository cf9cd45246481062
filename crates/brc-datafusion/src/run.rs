//! Runs statements in sequence.

use crate::failure::Failed;
use crate::output::Output;
use brc_cli::embedding::{Shown, message};
use brc_core::Progress;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::DFParser;
use std::sync::Arc;
use std::time::Instant;

/// The session of statements and the destination of their results.
pub(crate) struct Runner {
    pub(crate) context: SessionContext,
    pub(crate) output: Output,
    pub(crate) timer: bool,
    pub(crate) in_cluster: bool,
    /// The progress of scans.
    pub(crate) progress: Arc<Progress>,
}

impl Runner {
    /// Runs the statements of a text, separated by semicolons.
    pub(crate) async fn run(&self, text: &str) -> Result<(), Failed> {
        let dialect = datafusion::sql::sqlparser::dialect::GenericDialect {};
        let statements = DFParser::parse_sql_with_dialect(text, &dialect)?;
        for statement in statements {
            let begun = Instant::now();
            self.progress.restart();
            let shown = Shown::new(Arc::clone(&self.progress));
            // A statement before may have changed the session.
            let plan = self.context.state().statement_to_plan(statement).await?;
            if self.in_cluster && matches!(plan, LogicalPlan::Copy(_)) {
                return Err(Failed::usage("copy does not run in a cluster; --output writes the rows here"));
            }
            let rows = self.rows_of(plan).await?;
            // Statements such as `set` have no rows and no columns.
            let count = if rows.schema().fields().is_empty() { 0 } else { self.output.write(rows, shown).await? };
            if self.timer {
                message(format_args!("{count} rows in {:.3} s", begun.elapsed().as_secs_f64()));
            }
        }
        Ok(())
    }

    async fn rows_of(&self, plan: LogicalPlan) -> Result<SendableRecordBatchStream, Failed> {
        #[cfg(feature = "ballista")]
        if self.in_cluster {
            return Ok(brc_datafusion::cluster::ballista::rows_of(&self.context, plan).await?);
        }
        Ok(self.context.execute_logical_plan(plan).await?.execute_stream().await?)
    }
}
