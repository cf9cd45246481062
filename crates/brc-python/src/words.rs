//! Converts keyword arguments to command-line words.

use crate::errors::UsageError;
use brc_cli::embedding::word_of_bool;
use brc_core::identifier;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};
use std::ffi::OsString;
use std::path::PathBuf;

/// Options with a different name here: the original is a Python keyword, or several values are given at once.
const RENAMED: [(&str, &str); 4] = [
    ("encoding", "from"),
    ("types", "type"),
    ("date_formats", "date-format"),
    ("timestamp_formats", "timestamp-format"),
];

/// Options whose list is a single comma-separated value.
const LISTS: [&str; 5] = ["compressions", "encodings", "null", "null_only", "partition_by"];

/// Options that are given once for each item of a list.
const REPEATED: [&str; 1] = ["query"];

/// The command-line words of keyword arguments.
#[pyfunction]
#[pyo3(signature = (**options))]
pub(crate) fn option_words(options: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<OsString>> {
    of_options(options)
}

/// The command-line words of options.
pub(crate) fn of_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<OsString>> {
    let mut words = Vec::new();
    for (name, value) in options.into_iter().flat_map(PyDictMethods::iter) {
        add(&mut words, &name.extract::<String>()?, &value)?;
    }
    Ok(words)
}

/// Options followed by paths.
pub(crate) fn with_paths(mut words: Vec<OsString>, paths: impl IntoIterator<Item = PathBuf>) -> Vec<OsString> {
    words.push("--".into());
    words.extend(paths.into_iter().map(PathBuf::into_os_string));
    words
}

fn add(words: &mut Vec<OsString>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let known = RENAMED.iter().find(|(own, _)| *own == name).map(|(_, known)| (*known).to_owned());
    let option = known.unwrap_or_else(|| name.replace('_', "-"));
    let mut push = |value: OsString| {
        let mut word = OsString::from(format!("--{option}="));
        word.push(value);
        words.push(word);
    };
    if value.is_none() {
        return Ok(());
    }
    if let Ok(value) = value.cast::<PyBool>() {
        words.extend(word_of_bool(&option, value.is_true()).map(OsString::from));
        return Ok(());
    }
    if let Ok(pairs) = value.cast::<PyDict>() {
        let pairs = pairs.iter().map(|(key, value)| Ok((key.extract::<String>()?, value.str()?.to_string())));
        let pairs = pairs.collect::<PyResult<Vec<_>>>()?;
        match name {
            "schema" => {
                let columns = pairs.iter().map(|(column, kind)| format!("{}:{kind}", identifier::in_list(column)));
                push(columns.collect::<Vec<_>>().join(",").into());
            }
            _ => pairs.iter().for_each(|(column, of)| push(format!("{}={of}", identifier::in_list(column)).into())),
        }
        return Ok(());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| Ok(item?.str()?.to_string())).collect::<PyResult<Vec<String>>>()?;
        if LISTS.contains(&name) {
            if let Some(item) = items.iter().find(|item| item.contains(',')) {
                return Err(UsageError::new_err(format!("{name}: '{item}' has a comma")));
            }
            push(items.join(",").into());
        } else if REPEATED.contains(&name) {
            items.into_iter().for_each(|item| push(item.into()));
        } else {
            push(items.iter().map(|item| identifier::in_list(item)).collect::<Vec<_>>().join(",").into());
        }
        return Ok(());
    }
    if let Ok(text) = value.cast::<PyString>() {
        push(text.to_str()?.into());
        return Ok(());
    }
    match value.extract::<PathBuf>() {
        Ok(path) => push(path.into()),
        Err(_) => push(value.str()?.to_str()?.into()),
    }
    Ok(())
}
