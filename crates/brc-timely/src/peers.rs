//! Control messages between processes: heartbeats, failures, and the end of the query. If one process ends, all of them
//! end soon, with a message that names it; the network threads of timely would only panic.
//!
//! The first thread with a reason ends the process, while all others wait.

use crate::connect::{Connection, is_timeout};
use crate::failure::Failed;
use crate::frame;
use crate::hosts::Hosts;
use brc_encodings::{FileIdentity, remove_unfinished};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{ThreadId, current, park, sleep};
use std::time::Duration;

/// The maximum size of a notice in bytes; it may list many files.
const MAX_NOTICE_BYTES: u32 = 1 << 28;

/// The time to wait for a process that does not read its notices.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// The time that the first process waits for the others after it has printed the result.
const END_TIMEOUT: Duration = Duration::from_secs(2);

static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// The work of a process, which must be the same for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The serialised plan.
    pub(crate) plan: Vec<u8>,
    pub(crate) files: Vec<FileIdentity>,
    /// The number of splits; `None` for a stream.
    pub(crate) splits: Option<u64>,
}

/// A control message.
#[derive(Debug, Serialize, Deserialize)]
enum Notice {
    Alive,
    Work(Work),
    Failed(Failed),
    /// No further notice follows.
    Done,
}

/// A notice that does not end this process.
enum Event {
    Work(Work),
    Done,
}

/// The other processes.
pub(crate) struct Peers {
    hosts: Hosts,
    /// The control connections to the other processes.
    streams: Vec<Mutex<TcpStream>>,
    events: Mutex<Receiver<(usize, Event)>>,
    timeout: Duration,
}

impl Peers {
    /// Starts to listen to the others. Also returns the data connections as timely expects them: in process order, with
    /// `None` for this process.
    pub(crate) fn watch(
        hosts: Hosts,
        connections: Vec<Connection>,
        timeout: Duration,
    ) -> io::Result<(Arc<Self>, Vec<Option<TcpStream>>)> {
        let (sender, events) = channel();
        let (mut streams, mut readers) = (Vec::new(), Vec::new());
        let mut sockets: Vec<_> = hosts.addresses.iter().map(|_| None).collect();
        for Connection { process, control, data } in connections {
            control.set_read_timeout(Some(timeout))?;
            control.set_write_timeout(Some(WRITE_TIMEOUT))?;
            data.set_read_timeout(None)?;
            readers.push((process, control.try_clone()?));
            streams.push(Mutex::new(control));
            sockets[process] = Some(data);
        }
        let peers = Arc::new(Self { hosts, streams, events: Mutex::new(events), timeout });
        for (process, stream) in readers {
            let (peers, sender) = (Arc::clone(&peers), sender.clone());
            let name = format!("peer-{process}");
            std::thread::Builder::new().name(name).spawn(move || peers.listen(process, stream, &sender))?;
        }
        let heartbeat = Arc::clone(&peers);
        std::thread::Builder::new().name("alive".to_owned()).spawn(move || heartbeat.send_heartbeats())?;
        Ok((peers, sockets))
    }

    /// Sends heartbeats to the others.
    fn send_heartbeats(&self) {
        while !self.streams.is_empty() {
            sleep(self.timeout / 8);
            self.send(&Notice::Alive);
        }
    }

    /// Handles the notices of another process until it is done.
    fn listen(&self, process: usize, mut stream: TcpStream, events: &Sender<(usize, Event)>) {
        loop {
            let event = match frame::read(&mut stream, MAX_NOTICE_BYTES) {
                Ok(Notice::Alive) => continue,
                Ok(Notice::Work(work)) => Event::Work(work),
                Ok(Notice::Done) => Event::Done,
                Ok(Notice::Failed(failed)) => self.pass_on(failed),
                Err(error) => self.lost(process, &error),
            };
            let is_done = matches!(event, Event::Done);
            // The receiver lives as long as the process.
            let _ = events.send((process, event));
            if is_done {
                return;
            }
        }
    }

    /// Ends all processes because one of them is gone.
    fn lost(&self, process: usize, error: &io::Error) -> ! {
        let reason = match error.kind() {
            _ if is_timeout(error) => format!("it gave no sign of life for {} s", self.timeout.as_secs_f64()),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
                "it ended before the query was answered".to_owned()
            }
            _ => error.to_string(),
        };
        self.pass_on(Failed::run(format!("{} is lost: {reason}", self.hosts.name(process))))
    }

    /// Ends this process because of a failure elsewhere. The others are notified first: some may see the end of this
    /// process before the failure arrives.
    fn pass_on(&self, failed: Failed) -> ! {
        claim();
        let code = failed.report();
        self.send(&Notice::Failed(failed));
        exit(code)
    }

    fn send(&self, notice: &Notice) {
        for stream in &self.streams {
            let mut stream = stream.lock();
            // If writing fails, the thread that listens to that process reports why.
            let _ = frame::write(&mut *stream, notice);
        }
    }

    /// The next event from another process.
    fn next_event(&self, timeout: Duration) -> Option<(usize, Event)> {
        self.events.lock().recv_timeout(timeout).ok()
    }

    /// Checks that all processes do the same work.
    pub(crate) fn agree(&self, work: &Work) -> Result<(), Failed> {
        self.send(&Notice::Work(work.clone()));
        for _ in &self.streams {
            let (process, theirs) = self.wait_for(|_, event| match event {
                Event::Work(theirs) => Some(theirs),
                Event::Done => None,
            });
            let name = self.hosts.name(process);
            if theirs.files != work.files || theirs.splits != work.splits {
                let hint = "all processes must find the same files by the same paths";
                return Err(Failed::usage(format!("{name} finds different files")).with_hint(hint));
            }
            if theirs.plan != work.plan {
                let hint = "give all processes the same query and options";
                return Err(Failed::usage(format!("{name} was given a different query")).with_hint(hint));
            }
        }
        Ok(())
    }

    /// Waits until the first process has printed the result.
    pub(crate) fn wait_for_answer(&self) {
        self.wait_for(|process, event| (process == 0 && matches!(event, Event::Done)).then_some(()));
    }

    fn wait_for<T>(&self, wanted: impl Fn(usize, Event) -> Option<T>) -> (usize, T) {
        loop {
            let event = self.next_event(self.timeout);
            if let Some((process, found)) = event.and_then(|(process, event)| Some((process, wanted(process, event)?)))
            {
                return (process, found);
            }
        }
    }

    /// Ends all processes with a failure of this one, unless it is already ending.
    pub(crate) fn fail(&self, failed: Failed) -> ! {
        claim();
        let code = failed.report();
        self.send(&Notice::Failed(failed.of(&self.hosts.name(self.hosts.own))));
        exit(code)
    }

    /// Notifies the others that this process is done; its end must be [claimed](claim).
    pub(crate) fn finish(&self) {
        self.send(&Notice::Done);
        if self.hosts.own == 0 {
            // Others may still be reading.
            let mut open = self.streams.len();
            while open > 0 && self.next_event(END_TIMEOUT).is_some() {
                open -= 1;
            }
        }
    }
}

/// Claims the end of the process for this thread, once or several times. Never returns if another thread has claimed
/// it.
pub(crate) fn claim() {
    let own = current().id();
    while *ENDING.get_or_init(|| own) != own {
        park();
    }
}

fn exit(code: u8) -> ! {
    remove_unfinished();
    std::process::exit(code.into())
}
