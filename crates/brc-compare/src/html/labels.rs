//! Finds places for labels beside points, so that no label lies on another or on a point.

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

    fn holds(&self, other: &Self) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }
}

/// How high a label is, and how wide one of its characters: a little more than fonts usually take.
const HEIGHT: f64 = 14.0;
const CHARACTER: f64 = 7.4;
/// Half of what a point takes.
const POINT: f64 = 6.0;

/// Where labels go: one entry for each, `None` if there is no room. `labels` are points to label and their text, the most
/// important first; `points` are all points of the picture, `frame` is where labels may be.
pub(super) fn place(labels: &[((f64, f64), String)], points: &[(f64, f64)], frame: Area) -> Vec<Option<Area>> {
    let mut taken: Vec<Area> = points.iter().map(|&point| Area::around(point, POINT)).collect();
    let mut places = Vec::new();
    for (point, text) in labels {
        let width = text.chars().count() as f64 * CHARACTER;
        let free =
            candidates(*point, width).find(|area| frame.holds(area) && !taken.iter().any(|other| other.overlaps(area)));
        taken.extend(free);
        places.push(free);
    }
    places
}

/// Places around a point, near ones first, and to the right of it first of all.
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
    fn a_lonely_point_has_its_label_to_the_right() {
        let places = place(&[((100.0, 100.0), "ab".to_owned())], &[(100.0, 100.0)], FRAME);
        let area = places[0].unwrap();
        assert_eq!((area.left, area.top), (108.0, 93.0));
        let places = place(&[((399.0, 100.0), "ab".to_owned())], &[(399.0, 100.0)], FRAME);
        assert!(places[0].unwrap().right < 399.0);
    }

    proptest! {
        #[test]
        fn labels_lie_on_nothing(points in prop::collection::vec((0.0..400.0, 0.0..300.0), 1..40)) {
            let labels: Vec<_> = points.iter().enumerate().map(|(index, &point)| (point, format!("label {index}"))).collect();
            let places = place(&labels, &points, FRAME);
            let areas: Vec<Area> = places.into_iter().flatten().collect();
            prop_assert!(!areas.is_empty());
            for (index, area) in areas.iter().enumerate() {
                prop_assert!(FRAME.holds(area));
                prop_assert!(!areas[..index].iter().any(|other| other.overlaps(area)));
                prop_assert!(!points.iter().any(|&point| Area::around(point, POINT).overlaps(area)));
            }
        }
    }
}
