//! Does with rows what a query does.

use crate::shared::rows::Groups;
use brc_core::{Batch, Data, Dictionary, Error, Result, Sink};
use brc_kernels::accumulate::GroupStatistics;
use brc_kernels::cpu::Level;

/// Adds up by code, as a query does.
pub(crate) struct Adder {
    level: Level,
    names: Dictionary,
    groups: GroupStatistics,
}

impl Adder {
    pub(crate) fn new() -> Self {
        Self { level: Level::best(), names: Dictionary::new(), groups: GroupStatistics::new() }
    }

    pub(crate) fn groups(self) -> Groups {
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        self.names.iter().map(name).zip(self.groups.finish()).collect()
    }
}

impl Sink for Adder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let strange = || Error::Usage("a strange batch".to_owned());
        let [names, numbers] = batch.columns else { return Err(strange()) };
        let (Data::Codes { codes, dictionary }, Data::Integers(values)) = (names.data, numbers.data) else {
            return Err(strange());
        };
        for code in self.names.len()..dictionary.len() {
            self.names.push(dictionary.get(code as u32));
        }
        self.groups.grow(self.names.len());
        self.groups.rows(self.level, codes, values).map_err(|_| strange())
    }
}
