//! A single query for other programs, which compute it themselves but open its files and print its result as `brc
//! query` does.

use super::tables::{OpenTable, Tables};
use super::{Args, Request};
use crate::answer::Destination;
use crate::args::Opened;
use crate::colour::{self, When};
use crate::failure::is_closed_stdout;
use crate::inputs::{paths, sources};
use crate::{changes, charsets};
use brc_core::{Error, Progress, Result, Table, current_schema, read_rows};
use brc_encodings::{FileIdentity, temporary};
use brc_query::{Action, Answer, Plan, Query, Statement, TableName};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The arguments of `brc query`: files, one query, and the options for input and output.
#[derive(clap::Args)]
#[group(skip)]
pub struct QueryCommand {
    #[command(flatten)]
    args: Args,

    /// When to use colours; auto: on a terminal unless NO_COLOR is set, elsewhere only if CLICOLOR_FORCE is set
    #[arg(long, value_name = "auto|always|never", default_value = "auto", hide_possible_values = true)]
    color: When,
}

/// A query and its open table.
pub struct OpenQuery {
    args: Args,
    query: Query,
    files: Vec<PathBuf>,
    table: Arc<dyn Table>,
    destination: Option<Destination>,
}

impl QueryCommand {
    /// The number of threads to use.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.args.threads.count()
    }

    /// Opens the table. The destination is opened only if `prints` is set, in the process that prints the result.
    ///
    /// # Errors
    /// [`Error::Usage`] unless there is exactly one query and it aggregates; errors of the files and the output.
    pub fn open(self, prints: bool) -> Result<OpenQuery> {
        colour::choose(self.color);
        let args = self.args;
        temporary::choose_directory(args.memory.memory().temp_dir);
        let (query, name, inputs) = args.single()?;
        let query = Query { statistics: !args.no_statistics, ..query };
        let tables = Tables::new(&args, &inputs, false)?;
        let OpenTable { files, opened: Opened { table, .. } } = tables.into_table(name.as_ref())?;
        let destination = prints.then(|| args.output.destination(sources(&files))).transpose()?;
        let open = OpenQuery { args, query, files: paths(&files), table: table.into(), destination };
        open.check()?;
        Ok(open)
    }
}

impl Args {
    /// The only query of the command line, the name of its table, and the files.
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

    /// The identities of the files of the table.
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

    /// Rejects queries that are invalid whatever types later rows have.
    fn check(&self) -> Result<()> {
        match self.query.plan(&current_schema(&*self.table)) {
            Ok(plan) => check_groups(&plan),
            Err(error @ Error::Usage(_)) if !self.table.may_gain_columns() => Err(error),
            Err(_) => Ok(()),
        }
    }

    /// Binds the query to the table. If types are inferred, all rows are read first.
    ///
    /// # Errors
    /// As for [`Query::bind`]; [`Error::Usage`] if the query does not aggregate.
    pub fn plan(&self) -> Result<Plan> {
        let (threads, progress) = (self.args.threads.count(), Progress::default());
        if self.table.inferred().is_some() {
            read_rows(&*self.table, threads, &progress)?;
        }
        let plan = self.query.bind(&*self.table, threads, &progress)?;
        check_groups(&plan)?;
        Ok(plan.within(&self.args.memory.memory()))
    }

    /// Prints the result, or writes it to the output file.
    ///
    /// # Errors
    /// If the destination cannot hold it or cannot be written.
    pub fn print(&self, plan: &Plan, answer: Answer) -> Result<()> {
        if let Some(destination) = &self.destination {
            match destination.write(plan, answer, self.args.threads.count()) {
                Err(error) if !is_closed_stdout(&error) => return Err(error),
                // A closed standard output is not an error: its reader has what it needs.
                Ok(_) | Err(_) => {}
            }
        }
        changes::note_guesses(&*self.table);
        changes::note_sizes_of_text(&self.query, &*self.table);
        changes::note_numbers(&self.query, &*self.table);
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
