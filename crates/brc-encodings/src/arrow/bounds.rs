//! Minimum and maximum of the number columns of a record batch, so that batches can be skipped.
//!
//! The format has no statistics. They are stored as text in the custom metadata of the message, covered by its
//! checksum, and therefore trusted only in files of `brc`.

/// The metadata key of the bounds.
pub(super) const BOUNDS: &str = "brc.bounds";

/// The minimum and maximum integer of each column; `None` without integers.
pub(super) type Bounds = Vec<Option<(i128, i128)>>;

/// Formats bounds.
pub(super) fn to_text(bounds: &Bounds) -> String {
    let text = |bounds: &Option<(i128, i128)>| bounds.map_or(String::new(), |(min, max)| format!("{min}..{max}"));
    bounds.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Parses the output of [`to_text`]; invalid text gives no bounds.
pub(super) fn from_text(text: &str) -> Bounds {
    let bounds = |text: &str| {
        let (min, max) = text.split_once("..")?;
        Some((min.parse().ok()?, max.parse().ok()?))
    };
    text.split(',').map(bounds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_round_trip() {
        for bounds in [vec![None, Some((-3, 5)), None, Some((i128::MIN, i128::MAX))], vec![Some((0, 0))], vec![None]] {
            assert_eq!(from_text(&to_text(&bounds)), bounds);
        }
        assert_eq!(from_text("x..1,1..,1...2,..3"), [None; 4]);
    }
}
