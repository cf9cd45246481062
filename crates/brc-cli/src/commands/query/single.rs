//! A query for programs that answer it in their own way, but read its files and print its answer as `brc query` does.

use super::tables::{OpenTable, Tables};
use super::{Args, Request};
use crate::answer::Destination;
use crate::args::Opened;
use crate::colour::{self, When};
use crate::failure::is_closed_stdout;
use crate::inputs::paths;
use crate::{changes, charsets};
use brc_core::{Error, Progress, Result, Table, current_schema, read_rows};
use brc_encodings::FileIdentity;
use brc_query::{Action, Answered, Plan, Query, Statement, TableName};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The arguments of `brc query`: files, one query, how they are read, and how rows are printed.
#[derive(clap::Args)]
#[group(skip)]
pub struct QueryCommand {
    #[command(flatten)]
    args: Args,

    /// When to use colours; auto: on a terminal unless NO_COLOR is set, elsewhere only if CLICOLOR_FORCE is set
    #[arg(long, value_name = "auto|always|never", default_value = "auto", hide_possible_values = true)]
    color: When,
}

/// A query and its table, which is open.
pub struct OpenQuery {
    args: Args,
    query: Query,
    files: Vec<PathBuf>,
    table: Arc<dyn Table>,
    destination: Option<Destination>,
}

impl QueryCommand {
    /// How many threads it asks for.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.args.threads.count()
    }

    /// Opens the table. Only the process that prints the answer looks at where it goes.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is not one query, or it has no groups; what goes wrong with the files and the output.
    pub fn open(self, prints: bool) -> Result<OpenQuery> {
        colour::choose(self.color);
        let args = self.args;
        let (query, name, inputs) = args.single()?;
        let query = Query { statistics: !args.no_statistics, ..query };
        let tables = Tables::new(&args, &inputs, false)?;
        let OpenTable { files, opened: Opened { table, .. } } = tables.into_table(name.as_ref())?;
        let files = paths(&files);
        let destination = prints.then(|| args.output.destination(files.clone())).transpose()?;
        let open = OpenQuery { args, query, files, table: table.into(), destination };
        open.check()?;
        Ok(open)
    }
}

impl Args {
    /// The only query that is asked for, the name of its table, and the files.
    fn single(&self) -> Result<(Query, Option<TableName>, Vec<PathBuf>)> {
        for (is_given, option) in
            [(self.interactive, "--interactive"), (self.explain, "--explain"), (self.timings, "--timings")]
        {
            if is_given {
                return Err(Error::Usage(format!("{option} is an option of brc query alone")));
            }
        }
        let Request { sql, inputs } = self.request()?;
        if sql.is_empty() {
            return Ok((self.query()?, None, inputs));
        }
        self.refuse_clauses()?;
        let statements = sql.iter().map(|sql| Ok(Statement::parse_all(&sql.text)?)).collect::<Result<Vec<_>>>()?;
        let mut statements = statements.into_iter().flatten();
        match (statements.next(), statements.next()) {
            (Some(Statement { action: Action::Select(query), table, .. }), None) => Ok((*query, table, inputs)),
            _ => Err(Error::Usage("one query is expected, which begins with select; brc query runs others".to_owned())),
        }
    }
}

impl OpenQuery {
    /// The table.
    #[must_use]
    pub fn table(&self) -> &Arc<dyn Table> {
        &self.table
    }

    /// Which files it is of.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn identities(&self) -> Result<Vec<FileIdentity>> {
        let identity = |path: &PathBuf| match path == Path::new("-") {
            true => Err(Error::Usage("standard input is not a file that several processes can read".to_owned())),
            false => FileIdentity::of(path),
        };
        self.files.iter().map(identity).collect()
    }

    /// Refuses what is wrong whatever the types of later rows are.
    fn check(&self) -> Result<()> {
        match self.query.plan(&current_schema(&*self.table)) {
            Ok(plan) => check_groups(&plan),
            Err(error @ Error::Usage(_)) if !self.table.may_gain_columns() => Err(error),
            Err(_) => Ok(()),
        }
    }

    /// Binds the query to the table, in the types of all rows: where types are inferred, these are read.
    ///
    /// # Errors
    /// As for [`Query::bind`]; [`Error::Usage`] if the query has no groups.
    pub fn plan(&self) -> Result<Plan> {
        let (threads, progress) = (self.args.threads.count(), Progress::default());
        if self.table.inferred().is_some() {
            read_rows(&*self.table, threads, &progress)?;
        }
        let plan = self.query.bind(&*self.table, threads, &progress)?;
        check_groups(&plan)?;
        Ok(plan.within(&self.args.memory.memory()))
    }

    /// Prints the answer, or writes the file that it goes to.
    ///
    /// # Errors
    /// If the destination cannot hold it or cannot be written.
    pub fn print(&self, plan: &Plan, answer: Answered) -> Result<()> {
        if let Some(destination) = &self.destination {
            match destination.write(plan, answer, self.args.threads.count()) {
                Err(error) if !is_closed_stdout(&error) => return Err(error),
                // Whoever reads standard output has enough if it is closed.
                Ok(_) | Err(_) => {}
            }
        }
        changes::note_nulled(&*self.table);
        charsets::note_mismatches(&self.query, &*self.table);
        Ok(())
    }
}

fn check_groups(plan: &Plan) -> Result<()> {
    match plan.is_grouped() {
        true => Ok(()),
        false => {
            Err(Error::Usage("the query selects rows and has no groups to compute; use brc query for it".to_owned()))
        }
    }
}
