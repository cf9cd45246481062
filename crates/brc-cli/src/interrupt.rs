//! Ctrl-C and its like end a run as they always do, but not before its half-written files are gone.

/// Sees to it that a signal that ends the process takes the unfinished files along.
pub(crate) fn clean_up_when_killed() {
    // Without a handler the run is as good; only a kill would leave a temporary file. Signals that someone chose to have
    // ignored, as `nohup` does, stay ignored.
    let _ = ctrlc::try_set_handler(|| {
        brc_encodings::output::remove_unfinished();
        std::process::exit(130);
    });
}
