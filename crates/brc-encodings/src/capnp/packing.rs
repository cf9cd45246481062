//! Takes packed words off the front of some bytes; see [`brc_kernels::packing`] for the format.

use brc_kernels::cpu::Level;
use brc_kernels::packing;

pub(super) use brc_kernels::packing::{Fault, WORD};

/// Unpacks words off the front of `packed` until `out` is full; its length is a multiple of [`WORD`].
pub(super) fn unpack(packed: &mut &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let length = packing::unpack(Level::best(), packed, out)?;
    take(packed, length).map(drop)
}

/// Skips words at the front of `packed`.
pub(super) fn skip(packed: &mut &[u8], mut words: usize) -> Result<(), Fault> {
    while words > 0 {
        words -= 1;
        let tag = take(packed, 1)?[0];
        take(packed, tag.count_ones() as usize)?;
        if tag == 0 || tag == 0xff {
            let run = usize::from(take(packed, 1)?[0]);
            words = words.checked_sub(run).ok_or(Fault::Overrun)?;
            take(packed, if tag == 0 { 0 } else { run * WORD })?;
        }
    }
    Ok(())
}

/// Takes bytes off the front.
pub(super) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], Fault> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(Fault::CutOff)?;
    *bytes = rest;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::capnp::message::Builder;
    use ::capnp::{serialize, serialize_packed};
    use proptest::prelude::*;

    /// A message of one segment with these bytes: unpacked, and packed by the library.
    fn message(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut builder = Builder::new_default();
        builder.initn_root::<::capnp::data::Builder<'_>>(bytes.len() as u32).copy_from_slice(bytes);
        let mut packed = Vec::new();
        serialize_packed::write_message(&mut packed, &builder).unwrap();
        (serialize::write_message_to_words(&builder), packed)
    }

    /// Bytes with many zeros, single and in runs.
    fn sparse() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            prop::collection::vec(0u8..2, 0..40),
            (0usize..4000).prop_map(|length| vec![0; length]),
            (0usize..4000).prop_map(|length| vec![7; length]),
        ];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn words_packed_by_the_library_are_unpacked_and_skipped(bytes in sparse(), trailing: Vec<u8>) {
            let (plain, packed) = message(&bytes);
            let all = [&packed[..], &trailing].concat();
            let mut rest = &all[..];
            let mut out = vec![1; plain.len()];
            prop_assert_eq!(unpack(&mut rest, &mut out), Ok(()));
            prop_assert_eq!((&out, rest), (&plain, &trailing[..]));
            let mut rest = &all[..];
            prop_assert_eq!(skip(&mut rest, plain.len() / WORD), Ok(()));
            prop_assert_eq!(rest, &trailing[..]);
        }

        #[test]
        fn truncation_is_detected(bytes in sparse(), cut in 0.0..1.0) {
            let (plain, packed) = message(&bytes);
            let packed = &packed[..(packed.len() as f64 * cut) as usize];
            prop_assert_eq!(unpack(&mut &packed[..], &mut vec![0; plain.len()]), Err(Fault::CutOff));
            prop_assert_eq!(skip(&mut &packed[..], plain.len() / WORD), Err(Fault::CutOff));
        }

        #[test]
        fn unpack_and_skip_agree_on_any_bytes(bytes: Vec<u8>, words in 0usize..40) {
            let (mut unpacked, mut skipped) = (&bytes[..], &bytes[..]);
            let outcome = unpack(&mut unpacked, &mut vec![0; words * WORD]);
            prop_assert_eq!(skip(&mut skipped, words).is_ok(), outcome.is_ok());
            if outcome.is_ok() {
                prop_assert_eq!(unpacked, skipped);
            }
        }
    }
}
