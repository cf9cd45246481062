//! Runs a command with a time limit; on timeout it kills the process and its children.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How long to wait for the rest of the output of a process that has exited.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The exit status and the output of a process.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Runs a command to its end; `None` if it exceeded the limit and was killed.
///
/// # Errors
/// I/O errors of starting the process or reading its output.
pub(crate) fn run(command: &mut Command, limit: Option<Duration>) -> io::Result<Option<Ended>> {
    let end = limit.and_then(|limit| Instant::now().checked_add(limit));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A process group of its own, so that its children can be killed with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let read = read_output(&mut child, end);
    // Once the process is reaped, its id may be reused.
    if !matches!(read, Ok(Some(_))) && child.try_wait()?.is_none() {
        kill(&mut child);
    }
    let status = child.wait()?;
    Ok(read?.map(|[stdout, stderr]| Ended { status, stdout, stderr }))
}

/// Kills a process and its children; it may have just exited.
#[cfg(unix)]
fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kills a process; it may have just exited.
#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _ = child.kill();
}

/// Reads both output streams until they are closed; `None` if they are still open at `end`.
fn read_output(child: &mut Child, end: Option<Instant>) -> io::Result<Option<[Vec<u8>; 2]>> {
    let (sender, receiver) = channel();
    spawn_reader(0, child.stdout.take(), &sender)?;
    spawn_reader(1, child.stderr.take(), &sender)?;
    drop(sender);
    let mut output = [None, None];
    while let Some((stream, all)) = next(&receiver, child, end)? {
        output[stream] = Some(all?);
    }
    Ok(match output {
        [Some(stdout), Some(stderr)] => Some([stdout, stderr]),
        _ => None,
    })
}

/// The number of a stream (0 stdout, 1 stderr) and all of its bytes.
type StreamOutput = (usize, io::Result<Vec<u8>>);

/// Reads a stream to its end on a thread of its own.
fn spawn_reader(
    number: usize,
    stream: Option<impl Read + Send + 'static>,
    sender: &Sender<StreamOutput>,
) -> io::Result<()> {
    let sender = sender.clone();
    let work = move || {
        let mut all = Vec::new();
        let outcome = stream.map_or(Ok(0), |mut stream| stream.read_to_end(&mut all));
        // The receiver is gone after a timeout.
        let _ = sender.send((number, outcome.map(|_| all)));
    };
    std::thread::Builder::new().spawn(work).map(drop)
}

/// The next stream that was read to its end; `None` if there is none left, or after a timeout.
fn next(
    receiver: &Receiver<StreamOutput>,
    child: &mut Child,
    end: Option<Instant>,
) -> io::Result<Option<StreamOutput>> {
    let Some(end) = end else { return Ok(receiver.recv().ok()) };
    if let Ok(output) = receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
        return Ok(Some(output));
    }
    // The process may have exited while this one was suspended; then the rest of its output is read.
    let has_exited = child.try_wait()?.is_some();
    Ok(if has_exited { receiver.recv_timeout(DRAIN_TIME).ok() } else { None })
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
    fn both_streams_are_read_whatever_their_length() {
        let script = "head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero; exit 3";
        let ended = run(&mut shell(script), Some(Duration::from_secs(60))).unwrap().unwrap();
        assert_eq!((ended.status.code(), ended.stdout.len(), ended.stderr.len()), (Some(3), 200_000, 300_000));
        assert_eq!(run(&mut shell("echo done"), None).unwrap().unwrap().stdout, b"done\n");
    }

    #[test]
    fn output_of_an_exited_process_is_read_after_the_limit() {
        let mut child = shell("echo done").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(read_output(&mut child, Some(Instant::now())).unwrap().unwrap()[0], b"done\n");
    }

    /// The child of the shell would go on writing to a file if it outlived the shell.
    #[test]
    fn a_timeout_kills_the_process_and_its_children() {
        let directory = tempfile::tempdir().unwrap();
        let script = "(while sleep 0.02; do echo x >> alive; done) & wait";
        let start = Instant::now();
        let ended = run(shell(script).current_dir(directory.path()), Some(Duration::from_millis(200))).unwrap();
        assert!(ended.is_none() && start.elapsed() < Duration::from_secs(20));
        let size = || std::fs::metadata(directory.path().join("alive")).map_or(0, |found| found.len());
        std::thread::sleep(Duration::from_millis(50));
        let before = size();
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(size(), before);
    }
}
