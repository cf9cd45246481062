//! Packed words: each word becomes a tag, which has a bit for each byte that is not zero, and those bytes. Behind the
//! tag of a word of zeros stands how many more follow, and behind a word without zeros how many words follow as they are.

/// Why words cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes end before.
    CutOff,
    /// What is packed as one run of words does not end where the words do.
    Overrun,
}

pub(super) const WORD: usize = 8;

/// Takes as many words off the front of `packed` as `out` holds, whose length is a multiple of [`WORD`].
pub(super) fn unpack(packed: &mut &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let mut rest = out;
    while let Some((word, behind)) = rest.split_first_chunk_mut::<WORD>() {
        rest = behind;
        let tag = take_word(packed, word)?;
        if tag == 0 || tag == 0xff {
            let bytes = WORD * usize::from(take(packed, 1)?[0]);
            let (run, behind) = std::mem::take(&mut rest).split_at_mut_checked(bytes).ok_or(Fault::Overrun)?;
            match tag {
                0 => run.fill(0),
                _ => run.copy_from_slice(take(packed, bytes)?),
            }
            rest = behind;
        }
    }
    Ok(())
}

/// Takes so many words off the front of `packed` and forgets them.
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

/// Takes a tag and its word.
#[inline(always)]
fn take_word(packed: &mut &[u8], word: &mut [u8; WORD]) -> Result<u8, Fault> {
    // Most words lie far enough before the end that all bytes there might be can be looked at.
    if let Some((&[tag, ref bytes @ ..], _)) = packed.split_first_chunk::<{ 1 + WORD }>() {
        let mut next = 0;
        for (bit, byte) in word.iter_mut().enumerate() {
            let present = tag >> bit & 1;
            *byte = bytes[next & (WORD - 1)] & present.wrapping_neg();
            next += usize::from(present);
        }
        *packed = &packed[1 + next..];
        return Ok(tag);
    }
    let tag = take(packed, 1)?[0];
    let mut bytes = take(packed, tag.count_ones() as usize)?.iter();
    for (bit, byte) in word.iter_mut().enumerate() {
        *byte = if tag >> bit & 1 == 1 { bytes.next().copied().unwrap_or(0) } else { 0 };
    }
    Ok(tag)
}

/// Takes bytes off the front.
#[inline(always)]
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

    /// A message of one segment that holds those bytes: as it is, and as the library packs it.
    fn message(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut builder = Builder::new_default();
        builder.initn_root::<::capnp::data::Builder<'_>>(bytes.len() as u32).copy_from_slice(bytes);
        let mut packed = Vec::new();
        serialize_packed::write_message(&mut packed, &builder).unwrap();
        (serialize::write_message_to_words(&builder), packed)
    }

    /// Bytes of which many are zero, alone or in runs.
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
        fn unpacks_and_skips_what_the_library_packs(bytes in sparse(), behind: Vec<u8>) {
            let (plain, packed) = message(&bytes);
            let all = [&packed[..], &behind].concat();
            let mut rest = &all[..];
            let mut out = vec![1; plain.len()];
            prop_assert_eq!(unpack(&mut rest, &mut out), Ok(()));
            prop_assert_eq!((&out, rest), (&plain, &behind[..]));
            let mut rest = &all[..];
            prop_assert_eq!(skip(&mut rest, plain.len() / WORD), Ok(()));
            prop_assert_eq!(rest, &behind[..]);
        }

        #[test]
        fn what_is_cut_off_is_known_to_be(bytes in sparse(), cut in 0.0..1.0) {
            let (plain, packed) = message(&bytes);
            let packed = &packed[..(packed.len() as f64 * cut) as usize];
            prop_assert_eq!(unpack(&mut &packed[..], &mut vec![0; plain.len()]), Err(Fault::CutOff));
            prop_assert_eq!(skip(&mut &packed[..], plain.len() / WORD), Err(Fault::CutOff));
        }

        #[test]
        fn both_agree_on_anything(bytes: Vec<u8>, words in 0usize..40) {
            let (mut unpacked, mut skipped) = (&bytes[..], &bytes[..]);
            let outcome = unpack(&mut unpacked, &mut vec![0; words * WORD]);
            prop_assert_eq!(skip(&mut skipped, words).is_ok(), outcome.is_ok());
            if outcome.is_ok() {
                prop_assert_eq!(unpacked, skipped);
            }
        }
    }
}
