//! A process that must not go on for ever: waited for no longer than a limit, then ended with all that it started.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// What a process that has ended in time said is heard for so long.
const LAST_WORDS: Duration = Duration::from_secs(1);

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
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that it goes with its children.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let listened = listen(&mut child, end);
    // Once it was waited for, its number may be that of another process.
    if !matches!(listened, Ok(Some(_))) && child.try_wait()?.is_none() {
        kill(&mut child);
    }
    let status = child.wait()?;
    Ok(listened?.map(|[stdout, stderr]| Ended { status, stdout, stderr }))
}

/// Ends a process with all that it started; it may just have ended by itself.
#[cfg(unix)]
fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Ends a process, which may just have ended by itself.
#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _ = child.kill();
}

/// Hears all that a process says until it has closed both streams; `None` if it has not when the time comes.
fn listen(child: &mut Child, end: Option<Instant>) -> io::Result<Option<[Vec<u8>; 2]>> {
    let (sender, heard) = channel();
    hear(0, child.stdout.take(), &sender)?;
    hear(1, child.stderr.take(), &sender)?;
    drop(sender);
    let mut said = [None, None];
    while let Some((stream, all)) = next(&heard, child, end)? {
        said[stream] = Some(all?);
    }
    Ok(match said {
        [Some(stdout), Some(stderr)] => Some([stdout, stderr]),
        _ => None,
    })
}

/// All that a stream of that number said.
type Heard = (usize, io::Result<Vec<u8>>);

/// Hears a stream to its end, on a thread of its own.
fn hear(number: usize, stream: Option<impl Read + Send + 'static>, heard: &Sender<Heard>) -> io::Result<()> {
    let heard = heard.clone();
    let work = move || {
        let mut all = Vec::new();
        let outcome = stream.map_or(Ok(0), |mut stream| stream.read_to_end(&mut all));
        // Nobody listens any more if it took too long.
        let _ = heard.send((number, outcome.map(|_| all)));
    };
    std::thread::Builder::new().spawn(work).map(drop)
}

/// The next stream that has come to its end; `None` if there is no other, or the time is over.
fn next(heard: &Receiver<Heard>, child: &mut Child, end: Option<Instant>) -> io::Result<Option<Heard>> {
    let Some(end) = end else { return Ok(heard.recv().ok()) };
    if let Ok(heard) = heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
        return Ok(Some(heard));
    }
    // One that has ended meanwhile, while this process was stopped perhaps, is heard to its last word.
    let has_ended = child.try_wait()?.is_some();
    Ok(if has_ended { heard.recv_timeout(LAST_WORDS).ok() } else { None })
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
