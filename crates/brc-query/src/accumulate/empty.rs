//! A partial before any row was read.

use super::partial::{Partial, Rows};
use crate::keys::Keys;
use crate::plan::Plan;
use crate::states::{State, StateKind};

impl Plan {
    /// No groups, with the state that the plan keeps of each.
    pub(crate) fn no_groups(&self) -> Partial {
        let fields = self.fields();
        let states = self.states().into_iter().map(|(columns, kind)| State::new(kind, &columns, &fields));
        Partial::new(Keys::new(&self.key_types()).finish(), self.rows(), states.collect())
    }

    /// How the rows of groups are counted.
    pub(crate) fn rows(&self) -> Rows {
        let fields = self.fields();
        let tells = |(columns, kind): &(Vec<usize>, StateKind)| {
            *kind == StateKind::Integers && fields[columns[0]].logical_type.fits_64_bits()
        };
        let states = self.states();
        // Those that share rows of state count rows there.
        let shared = states.iter().any(|(columns, kind)| State::new(*kind, columns, &fields).slots() > 0);
        Rows { state: states.iter().position(tells).filter(|_| !shared), ..Rows::default() }
    }
}
