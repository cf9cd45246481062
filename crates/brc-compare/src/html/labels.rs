//! Places labels beside points, so that no label overlaps another label or a point.

/// A rectangle in a picture; y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    fn around((x, y): (f64, f64), half: f64) -> Self {
        Self { left: x - half, top: y - half, right: x + half, bottom: y + half }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn contains(&self, other: &Self) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }
}

/// The height of a label and the width of one of its characters, both slightly larger than fonts usually need.
const HEIGHT: f64 = 14.0;
const CHARACTER: f64 = 7.4;
/// Half the size of a point.
const POINT: f64 = 6.0;

/// The area of each label, `None` if there is no room. `labels` are points with their text, most important first;
/// `points` are all points of the picture, and labels stay within `frame`.
pub(super) fn place(labels: &[((f64, f64), String)], points: &[(f64, f64)], frame: Area) -> Vec<Option<Area>> {
    let mut taken: Vec<Area> = points.iter().map(|&point| Area::around(point, POINT)).collect();
    let mut areas = Vec::new();
    for (point, text) in labels {
        let width = text.chars().count() as f64 * CHARACTER;
        let free = candidates(*point, width)
            .find(|area| frame.contains(area) && !taken.iter().any(|other| other.overlaps(area)));
        taken.extend(free);
        areas.push(free);
    }
    areas
}

/// Candidate areas around a point: near ones first, and at equal distance the one to the right first.
fn candidates((x, y): (f64, f64), width: f64) -> impl Iterator<Item = Area> {
    const DIRECTIONS: [(f64, f64); 8] =
        [(1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, -1.0), (-1.0, 1.0)];
    [8.0, 16.0, 28.0, 42.0].into_iter().flat_map(move |distance: f64| {
        DIRECTIONS.into_iter().map(move |(right, down)| {
            let centre = (x + right * (distance + width / 2.0), y + down * (distance + HEIGHT / 2.0));
            Area {
                left: centre.0 - width / 2.0,
                right: centre.0 + width / 2.0,
                top: centre.1 - HEIGHT / 2.0,
                bottom: centre.1 + HEIGHT / 2.0,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FRAME: Area = Area { left: 0.0, top: 0.0, right: 400.0, bottom: 300.0 };

    #[test]
    fn the_label_of_a_single_point_is_to_its_right() {
        let areas = place(&[((100.0, 100.0), "ab".to_owned())], &[(100.0, 100.0)], FRAME);
        let area = areas[0].unwrap();
        assert_eq!((area.left, area.top), (108.0, 93.0));
        let areas = place(&[((399.0, 100.0), "ab".to_owned())], &[(399.0, 100.0)], FRAME);
        assert!(areas[0].unwrap().right < 399.0);
    }

    proptest! {
        #[test]
        fn labels_overlap_nothing(points in prop::collection::vec((0.0..400.0, 0.0..300.0), 1..40)) {
            let labels: Vec<_> = points.iter().enumerate().map(|(index, &point)| (point, format!("label {index}"))).collect();
            let areas = place(&labels, &points, FRAME);
            let areas: Vec<Area> = areas.into_iter().flatten().collect();
            prop_assert!(!areas.is_empty());
            for (index, area) in areas.iter().enumerate() {
                prop_assert!(FRAME.contains(area));
                prop_assert!(!areas[..index].iter().any(|other| other.overlaps(area)));
                prop_assert!(!points.iter().any(|&point| Area::around(point, POINT).overlaps(area)));
            }
        }
    }
}
