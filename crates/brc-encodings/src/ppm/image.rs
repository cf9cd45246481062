//! The content of an image's header, as metadata of a table.

use brc_core::{Field, LogicalType, Schema};

/// The columns of a pixel's samples, which are the first columns of an image's table.
pub(super) const SAMPLES: [&str; 3] = ["r", "g", "b"];

/// The columns of a pixel's coordinates, which follow.
const COORDINATES: [&str; 2] = ["x", "y"];

const WIDTH: &str = "ppm.width";
const HEIGHT: &str = "ppm.height";
const MAXIMUM: &str = "ppm.maximum";

/// The header of a binary image, if it is not the canonical one: with comments, for instance.
pub(super) const HEADER: &str = "ppm.header";

/// The maximum width and height: coordinates are 32-bit integers.
pub(super) const LONGEST_SIDE: u64 = i32::MAX as u64;

/// The size of an image and its maximum sample value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Image {
    /// The number of pixels per row, 1 to [`LONGEST_SIDE`].
    pub(super) width: u32,
    /// The number of rows of pixels, 1 to [`LONGEST_SIDE`].
    pub(super) height: u32,
    /// The value of full intensity, 1 to 65,535.
    pub(super) maximum: u16,
}

impl Image {
    /// The number of pixels.
    pub(super) fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// The bytes per sample in the binary form.
    pub(super) fn sample_bytes(&self) -> usize {
        if self.maximum > 255 { 2 } else { 1 }
    }

    /// The canonical header, up to the raster.
    pub(super) fn header(&self, magic: &str) -> Vec<u8> {
        let Self { width, height, maximum } = self;
        format!("{magic}\n{width} {height}\n{maximum}\n").into_bytes()
    }

    /// The schema of the image as a table. `header` is the binary form's, if it is not canonical.
    pub(super) fn schema(&self, header: Option<&str>) -> Schema {
        let names = SAMPLES.into_iter().chain(COORDINATES);
        let fields = names.map(|name| Field::required(name, LogicalType::Int32)).collect();
        let number = |key: &str, value: u32| (key.to_owned(), value.to_string());
        let mut metadata =
            vec![number(WIDTH, self.width), number(HEIGHT, self.height), number(MAXIMUM, self.maximum.into())];
        metadata.extend(header.map(|header| (HEADER.to_owned(), header.to_owned())));
        let schema = Schema::new(fields).unwrap_or_else(|_| unreachable!("five columns of different names"));
        schema.with_metadata(metadata)
    }

    /// The image of a table, or why the table is not an image.
    pub(super) fn of(schema: &Schema) -> Result<Self, String> {
        let number = |key: &str, most: u64| {
            let text = schema.metadata_of(key).ok_or_else(|| {
                format!("the metadata of the table have no {}, as those of an image have", &key["ppm.".len()..])
            })?;
            let number = text.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("the table's {key} is '{text}', not a number from 1 to {most}"))
        };
        let (width, height) = (number(WIDTH, LONGEST_SIDE)?, number(HEIGHT, LONGEST_SIDE)?);
        let maximum = number(MAXIMUM, u16::MAX.into())?;
        Ok(Self { width: width as u32, height: height as u32, maximum: maximum as u16 })
    }
}
