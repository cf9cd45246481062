//! A process that must not go on for ever: waited for no longer than a limit, then ended with all that it started.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How a process ended, and what it said.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Runs a command to its end; `None` if that did not come within the limit.
///
/// # Errors
/// The system's, if the process cannot be started or heard.
pub(crate) fn run(command: &mut Command, limit: Option<Duration>) -> io::Result<Option<Ended>> {
    let end = limit.and_then(|limit| Instant::now().checked_add(limit));
    // A group of its own, so that it goes with its children.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let listened = listen(&mut child, end);
    // Once it was waited for, its number may be that of another process.
    if !matches!(listened, Ok(Some(_)))
        && child.try_wait()?.is_none()
        && let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    {
        // It may just have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let status = child.wait()?;
    Ok(listened?.map(|[stdout, stderr]| Ended { status, stdout, stderr }))
}

/// Hears all that a process says until it has closed both streams; `None` if it has not when the time comes.
fn listen(child: &mut Child, end: Option<Instant>) -> io::Result<Option<[Vec<u8>; 2]>> {
    let stdout = child.stdout.take().map(|stdout| File::from(OwnedFd::from(stdout)));
    let stderr = child.stderr.take().map(|stderr| File::from(OwnedFd::from(stderr)));
    let mut streams = [stdout, stderr];
    let mut said = [Vec::new(), Vec::new()];
    let mut buffer = vec![0; 64 << 10];
    while streams.iter().any(Option::is_some) {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let ready = wait(&streams, left)?;
        // One that has ended meanwhile, while this process was stopped perhaps, is heard to its last word.
        let has_more = |child: &mut Child| Ok::<_, io::Error>(child.try_wait()?.is_some() && ready.contains(&true));
        if left.is_some_and(|left| left.is_zero()) && !has_more(child)? {
            return Ok(None);
        }
        let mut ready = ready.into_iter();
        for (stream, said) in streams.iter_mut().zip(&mut said) {
            let Some(open) = stream else { continue };
            if ready.next() == Some(true) {
                match open.read(&mut buffer)? {
                    0 => *stream = None,
                    read => said.extend_from_slice(&buffer[..read]),
                }
            }
        }
    }
    Ok(Some(said))
}

/// Waits until an open stream has something to read, or its end, or the time is over; which of the open ones have.
fn wait(streams: &[Option<File>], left: Option<Duration>) -> io::Result<Vec<bool>> {
    let timeout = left.and_then(|left| Timespec::try_from(left).ok());
    let mut open: Vec<PollFd<'_>> = streams.iter().flatten().map(|stream| PollFd::new(stream, PollFlags::IN)).collect();
    match poll(&mut open, timeout.as_ref()) {
        Ok(_) => Ok(open.iter().map(|stream| !stream.revents().is_empty()).collect()),
        Err(rustix::io::Errno::INTR) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_are_heard_however_much_they_say() {
        let script = "head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero; exit 3";
        let ended = run(&mut shell(script), Some(Duration::from_secs(60))).unwrap().unwrap();
        assert_eq!((ended.status.code(), ended.stdout.len(), ended.stderr.len()), (Some(3), 200_000, 300_000));
        assert_eq!(run(&mut shell("echo done"), None).unwrap().unwrap().stdout, b"done\n");
    }

    #[test]
    fn what_has_ended_in_time_is_heard_even_later() {
        let mut child = shell("echo done").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(listen(&mut child, Some(Instant::now())).unwrap().unwrap()[0], b"done\n");
    }

    /// The shell's child would write a file if it outlived the shell.
    #[test]
    fn what_takes_too_long_is_ended_with_its_children() {
        let place = tempfile::tempdir().unwrap();
        let script = "(while sleep 0.02; do echo x >> alive; done) & wait";
        let start = Instant::now();
        let ended = run(shell(script).current_dir(place.path()), Some(Duration::from_millis(200))).unwrap();
        assert!(ended.is_none() && start.elapsed() < Duration::from_secs(20));
        let size = || std::fs::metadata(place.path().join("alive")).map_or(0, |found| found.len());
        std::thread::sleep(Duration::from_millis(50));
        let before = size();
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(size(), before);
    }
}
