//! Opens files as tables: those of the command line by name, others by quoted paths.

use crate::failure::Failed;
use async_trait::async_trait;
use brc_cli::embedding::{Files, message};
use brc_core::Progress;
use brc_datafusion::{FileTable, Resources, option_words, session_within};
use brc_encodings::{ENCODINGS, by_extension};
use datafusion::catalog::{DynamicFileCatalog, Session, TableProvider, TableProviderFactory, UrlTableFactory};
use datafusion::common::plan_err;
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::CreateExternalTable;
use datafusion::prelude::SessionContext;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// The format name after `stored as` for files of any encoding.
const STORED_AS: &str = "BRC";

/// The table option to read string columns as binary.
const STRINGS_AS_BINARY: &str = "strings_as_binary";

/// Opens files as tables.
#[derive(Debug)]
pub(crate) struct FileTables {
    threads: usize,
    /// The memory limit in bytes.
    memory: u64,
    /// Whether to read string columns as binary.
    strings_as_binary: bool,
    in_cluster: bool,
    /// The progress of scans of all tables.
    progress: Arc<Progress>,
    /// Holds the session.
    listing: DynamicListTableFactory,
}

impl FileTables {
    /// Creates a factory of tables. `memory` is a size as in the option of `brc`.
    ///
    /// # Errors
    /// If `memory` is not a size.
    pub(crate) fn new(
        threads: usize,
        memory: Option<&str>,
        strings_as_binary: bool,
        in_cluster: bool,
    ) -> Result<Self, Failed> {
        let option = memory.map(|size| ["--memory", size, "-"].map(OsString::from).to_vec());
        let files = Files::from_words(&option.unwrap_or_else(|| vec!["-".into()]))?;
        let (memory, listing) = (files.memory().limit, DynamicListTableFactory::default());
        Ok(Self { threads, memory, strings_as_binary, in_cluster, progress: Arc::default(), listing })
    }

    /// Creates a session in which quoted paths are tables; `place` may move it to a cluster.
    pub(crate) fn session(
        self: &Arc<Self>,
        place: impl FnOnce(SessionContext) -> Result<SessionContext, Failed>,
    ) -> Result<SessionContext, Failed> {
        let memory = usize::try_from(self.memory).unwrap_or(usize::MAX);
        let context = session_within(self.threads, memory)?;
        let known = Arc::clone(context.state().catalog_list());
        let factory = Arc::clone(self) as Arc<dyn UrlTableFactory>;
        let catalogs = Arc::new(DynamicFileCatalog::new(known, factory));
        let mut state = context.into_state_builder().with_catalog_list(catalogs);
        let known = state.table_factories().clone().unwrap_or_default();
        let own =
            ENCODINGS.iter().map(|encoding| encoding.name()).filter(|name| !known.contains_key(&name.to_uppercase()));
        for name in own.chain([STORED_AS]) {
            let factory = Arc::clone(self) as Arc<dyn TableProviderFactory>;
            state = state.with_table_factory(name.to_uppercase(), factory);
        }
        let context = place(SessionContext::from(state.build()))?;
        self.listing.session_store().with_state(context.state_weak_ref());
        Ok(context)
    }

    /// The progress of scans of all tables.
    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Registers a file of the command line, `FILE` or `NAME=FILE`, as a table.
    pub(crate) async fn register(&self, context: &SessionContext, word: &str) -> Result<(), Failed> {
        let (name, path) = named(word);
        if context.table_exist(name.as_str())? {
            return Err(Failed::usage(format!("two tables are named '{name}': name one, as in other={path}")));
        }
        context.register_table(name.as_str(), self.table(&[path], &[], self.strings_as_binary).await?)?;
        Ok(())
    }

    /// Opens files as one table, with options of `brc query`. If they have list or struct columns, which brc does not
    /// support, DataFusion reads them.
    async fn table(&self, paths: &[&str], options: &[OsString], is_binary: bool) -> Result<Arc<dyn TableProvider>> {
        let table = self.file_table(paths, options, is_binary);
        let table = table.map_err(|error| DataFusionError::External(Box::new(error)))?;
        if table.unsupported_columns().is_empty() {
            return Ok(Arc::new(table));
        }
        if let Some(whole) = self.nested_table(paths).await {
            return Ok(whole);
        }
        for column in table.unsupported_columns() {
            message(format_args!("brc-sql: note: {column}; it is left out"));
        }
        Ok(Arc::new(table))
    }

    /// Opens the files with DataFusion, if it supports their format.
    async fn nested_table(&self, paths: &[&str]) -> Option<Arc<dyn TableProvider>> {
        let session = self.listing.session_store().get_session().upgrade()?;
        let state = session.read().as_any().downcast_ref::<SessionState>()?.clone();
        let formats: Option<Vec<_>> = paths.iter().map(|path| nested_format(path)).collect();
        let (format, others) = formats.as_ref()?.split_first()?;
        if others.iter().any(|other| other != format) {
            return None;
        }
        let format = state.get_file_format_factory(format)?.create(&state, &HashMap::new()).ok()?;
        let urls = paths.iter().map(ListingTableUrl::parse).collect::<Result<_>>().ok()?;
        let options = ListingOptions::new(format).with_file_extension("");
        let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options);
        Some(Arc::new(ListingTable::try_new(config.infer_schema(&state).await.ok()?).ok()?))
    }

    fn file_table(&self, paths: &[&str], options: &[OsString], is_binary: bool) -> brc_core::Result<FileTable> {
        let (threads, memory, progress) = (self.threads, Some(self.memory), Arc::clone(&self.progress));
        let resources = Resources { threads, memory, progress, in_cluster: self.in_cluster };
        let table = FileTable::open(paths, options, &resources)?;
        Ok(if is_binary { table.with_strings_as_binary() } else { table })
    }
}

/// DataFusion's format for a file that may have lists or structs.
fn nested_format(path: &str) -> Option<&'static str> {
    let name = by_extension(Path::new(path))?.name();
    ["parquet", "arrow", "json"].contains(&name).then_some(name)
}

/// The name and path of a table. Names have only characters of identifiers.
pub(crate) fn named(word: &str) -> (String, &str) {
    let is_identifier = |name: &str| {
        name.chars().all(|character| character.is_alphanumeric() || character == '_')
            && name.starts_with(|first: char| first.is_alphabetic() || first == '_')
    };
    if let Some((name, path)) = word.split_once('=')
        && is_identifier(name)
        && !Path::new(word).exists()
    {
        return (name.to_owned(), path);
    }
    let stem = Path::new(word).file_name().map_or_else(Default::default, |name| name.to_string_lossy());
    let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let name: String = stem.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    let name = name.trim_matches('_').to_owned();
    let name = if is_identifier(&name) { name } else { format!("t{name}") };
    (name, word)
}

#[async_trait]
impl UrlTableFactory for FileTables {
    async fn try_new(&self, url: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        // This is called for every name that is not a table.
        let is_path = url.contains(['/', '.', '*', '?', '[']) || Path::new(url).exists();
        if !is_path {
            return Ok(None);
        }
        self.table(&[url], &[], self.strings_as_binary).await.map(Some)
    }
}

#[async_trait]
impl TableProviderFactory for FileTables {
    async fn create(&self, _: &dyn Session, command: &CreateExternalTable) -> Result<Arc<dyn TableProvider>> {
        let paths: Vec<&str> = command.locations.iter().map(String::as_str).collect();
        let encoding = ENCODINGS.iter().find(|encoding| command.file_type.eq_ignore_ascii_case(encoding.name()));
        let mut given = command.options.clone();
        let own = given.remove(STRINGS_AS_BINARY).or_else(|| given.remove(&format!("format.{STRINGS_AS_BINARY}")));
        let is_binary = match own.as_deref().map(str::parse::<bool>) {
            None => self.strings_as_binary,
            Some(Ok(is_binary)) => is_binary,
            Some(Err(_)) => return plan_err!("{STRINGS_AS_BINARY} is true or false"),
        };
        let from = encoding.into_iter().flat_map(|encoding| ["--from", encoding.name()].map(OsString::from));
        self.table(&paths, &from.chain(option_words(&given)).collect::<Vec<_>>(), is_binary).await
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn tables_are_named_after_files() {
        for (word, name, path) in [
            ("data/uservisits.buren", "uservisits", "data/uservisits.buren"),
            ("v=data/uservisits.csv.gz", "v", "data/uservisits.csv.gz"),
            ("data/part-*.csv", "part", "data/part-*.csv"),
            ("2024.csv", "t2024", "2024.csv"),
            ("a b.csv", "a_b", "a b.csv"),
            ("dir/", "dir", "dir/"),
            ("year=2024/x.csv", "year", "2024/x.csv"),
        ] {
            assert_eq!(named(word), (name.to_owned(), path));
        }
    }
}
