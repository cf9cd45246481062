//! Writes a table as an image.

use super::NAME;
use super::header::{self, SampleForm};
use super::image::{HEADER, Image, SAMPLES};
use crate::part_buffer::PartBuffer;
use crate::refused::Refused;
use brc_core::{
    Batch, BatchWriter, Column, Data, Error, LogicalType, Part, PartEncoder, Result, Schema, Sink, UnsupportedReason,
    for_integers,
};

pub(super) struct Writer {
    schema: Schema,
    image: Image,
    /// The columns of the samples.
    columns: [usize; 3],
    form: SampleForm,
    pixels: u64,
}

/// The columns of the samples and the image of a table with this schema, or why it is not an image.
pub(super) fn check(schema: &Schema) -> Result<([usize; 3], Image), String> {
    let mut columns = [0; 3];
    for (column, name) in columns.iter_mut().zip(SAMPLES) {
        *column = schema
            .index_of(name)
            .ok_or_else(|| format!("it holds only images (columns r, g, b); there is no column '{name}'"))?;
        let logical_type = schema.fields()[*column].logical_type;
        if !matches!(
            logical_type,
            LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 | LogicalType::Int64 | LogicalType::UInt64
        ) {
            return Err(format!("column '{name}' is of type {logical_type}, not of integers"));
        }
    }
    Ok((columns, Image::of(schema)?))
}

impl Writer {
    pub(super) fn new(schema: &Schema, ascii: bool) -> Result<Self, String> {
        let (columns, image) = check(schema)?;
        let form = if ascii { SampleForm::Ascii } else { SampleForm::Binary };
        Ok(Self { schema: schema.clone(), image, columns, form, pixels: 0 })
    }

    fn misfit(&self, more_or_fewer: &str) -> Error {
        let Image { width, height, .. } = self.image;
        Error::too_large(
            NAME,
            format!("it has {more_or_fewer} rows than the {width} × {height} pixels in its metadata"),
        )
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder {
            schema: self.schema.clone(),
            image: self.image,
            columns: self.columns,
            form: self.form,
            samples: Vec::new(),
            part: PartBuffer::default(),
        })
    }

    fn start(&mut self) -> Vec<u8> {
        if self.form == SampleForm::Ascii {
            return self.image.header("P3");
        }
        let own = self.schema.metadata_of(HEADER).map(str::as_bytes);
        let own = own.filter(|own| header::is_of(own, SampleForm::Binary, self.image));
        own.map_or_else(|| self.image.header("P6"), <[u8]>::to_vec)
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        self.pixels += part.rows;
        if self.pixels > self.image.pixels() { Err(self.misfit("more")) } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        if self.pixels < self.image.pixels() { Err(self.misfit("fewer")) } else { Ok(Vec::new()) }
    }
}

struct Encoder {
    schema: Schema,
    image: Image,
    columns: [usize; 3],
    form: SampleForm,
    /// The samples of a batch, interleaved.
    samples: Vec<u16>,
    part: PartBuffer,
}

impl Encoder {
    /// Takes the samples of a column.
    fn take(&mut self, batch: &Batch<'_>, index: usize) -> Result<(), Refused> {
        let (position, maximum) = (self.columns[index], self.image.maximum);
        let column = &batch.columns[position];
        let Data::Integers(values) = column.data else { unreachable!("the column is of integers") };
        let refused = |row: usize, fault| Refused::value(row, position, values.get(row).to_string().as_bytes(), fault);
        if let Some(row) = first_null(column, batch.rows) {
            // A value before it may be invalid, too.
            let before = for_integers!(values, values => put(&values[..row], maximum, &mut self.samples[index..]));
            return Err(match before {
                Err(row) => refused(row, UnsupportedReason::AboveMaximum(maximum)),
                Ok(()) => Refused::value(row, position, b"null", UnsupportedReason::Null),
            });
        }
        let put = for_integers!(values, values => put(values, maximum, &mut self.samples[index..]));
        put.map_err(|row| refused(row, UnsupportedReason::AboveMaximum(maximum)))
    }

    fn write(&mut self) {
        let Self { samples, part: PartBuffer { bytes, .. }, .. } = self;
        match self.form {
            SampleForm::Binary if self.image.sample_bytes() == 1 => {
                bytes.extend(samples.iter().map(|&sample| sample as u8));
            }
            SampleForm::Binary => samples.iter().for_each(|sample| bytes.extend_from_slice(&sample.to_be_bytes())),
            SampleForm::Ascii => {
                // One pixel per line, so that no line exceeds the format's limit of 70 bytes.
                for (&sample, end) in samples.iter().zip(b"  \n".iter().cycle()) {
                    push_number(sample, *end, bytes);
                }
            }
        }
    }
}

fn first_null(column: &Column<'_>, rows: usize) -> Option<usize> {
    column.has_nulls().then(|| (0..rows).find(|&row| !column.is_valid(row)))?
}

/// Writes values to every third element; returns the row of the first invalid sample.
fn put<T: Copy + TryInto<u16>>(values: &[T], maximum: u16, slots: &mut [u16]) -> Result<(), usize> {
    let mut is_good = true;
    for (slot, &value) in slots.iter_mut().step_by(3).zip(values) {
        let sample = value.try_into().ok().filter(|sample| *sample <= maximum);
        is_good &= sample.is_some();
        *slot = sample.unwrap_or(0);
    }
    if is_good {
        return Ok(());
    }
    let is_sample = |value: &T| (*value).try_into().is_ok_and(|sample| sample <= maximum);
    Err(values.iter().position(|value| !is_sample(value)).unwrap_or_default())
}

/// Appends a number and the byte after it.
fn push_number(number: u16, end: u8, bytes: &mut Vec<u8>) {
    let mut text = [b'0', b'0', b'0', b'0', b'0', end];
    let (mut at, mut left) = (4, number);
    loop {
        text[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
        at -= 1;
    }
    bytes.extend_from_slice(&text[at..]);
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.samples.clear();
        self.samples.resize(3 * batch.rows, 0);
        let refused: Vec<_> = (0..3).filter_map(|index| self.take(batch, index).err()).collect();
        if let Some(refused) = Refused::first(refused.into_iter()) {
            return Err(refused.into_error(self.part.rows_before(), NAME, &self.schema));
        }
        self.write();
        self.part.count(batch.rows as u64);
        Ok(())
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        Ok(self.part.finish())
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        Ok(self.part.overflow())
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        self.part.recycle(bytes);
    }
}
