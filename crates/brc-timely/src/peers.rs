//! How the processes are: each tells the others that it lives, what made it fail, and that it is done. So all of them
//! end when one does, soon, and with a message that names it: the network threads of timely would only panic.
//!
//! The first thread that has a reason ends the process. All others wait until it is gone.

use crate::connect::{Connection, is_timeout};
use crate::failure::Failed;
use crate::frame;
use crate::hosts::Hosts;
use brc_encodings::{FileIdentity, remove_unfinished};
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{park, sleep};
use std::time::Duration;

/// A notice has no more bytes: the names of many files are a part of one.
const LONGEST_NOTICE: u32 = 1 << 28;

/// A process that reads nothing for so long is told nothing more.
const PATIENCE_TO_WRITE: Duration = Duration::from_secs(2);

/// The first process waits so long for the others to end after it has printed the answer.
const PATIENCE_AT_END: Duration = Duration::from_secs(2);

static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// What a process works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The serialised plan.
    pub(crate) plan: Vec<u8>,
    pub(crate) files: Vec<FileIdentity>,
    /// How many splits the table has; `None` if it is a stream.
    pub(crate) splits: Option<u64>,
}

/// What processes tell each other.
#[derive(Debug, Serialize, Deserialize)]
enum Notice {
    Alive,
    Work(Work),
    Failed(Failed),
    /// Nothing more is to come.
    Done,
}

/// What another process tells that does not end this one.
enum Event {
    Work(Work),
    Done,
}

/// The other processes.
pub(crate) struct Peers {
    hosts: Hosts,
    /// To each of the others.
    streams: Vec<Mutex<TcpStream>>,
    events: Mutex<Receiver<(usize, Event)>>,
    patience: Duration,
}

impl Peers {
    /// Begins to listen to the others. Returns also the connections for timely, as it wants them: in the order of the
    /// processes, with none for this one.
    pub(crate) fn watch(
        hosts: Hosts,
        connections: Vec<Connection>,
        patience: Duration,
    ) -> io::Result<(Arc<Self>, Vec<Option<TcpStream>>)> {
        let (sender, events) = channel();
        let (mut streams, mut readers) = (Vec::new(), Vec::new());
        let mut sockets: Vec<_> = hosts.addresses.iter().map(|_| None).collect();
        for Connection { process, control, data } in connections {
            control.set_read_timeout(Some(patience))?;
            control.set_write_timeout(Some(PATIENCE_TO_WRITE))?;
            data.set_read_timeout(None)?;
            readers.push((process, control.try_clone()?));
            streams.push(Mutex::new(control));
            sockets[process] = Some(data);
        }
        let peers = Arc::new(Self { hosts, streams, events: Mutex::new(events), patience });
        for (process, stream) in readers {
            let (peers, sender) = (Arc::clone(&peers), sender.clone());
            let name = format!("peer-{process}");
            std::thread::Builder::new().name(name).spawn(move || peers.listen(process, stream, &sender))?;
        }
        let beating = Arc::clone(&peers);
        std::thread::Builder::new().name("alive".to_owned()).spawn(move || beating.beat())?;
        Ok((peers, sockets))
    }

    /// Tells the others now and then that this process lives.
    fn beat(&self) {
        while !self.streams.is_empty() {
            sleep(self.patience / 8);
            self.tell(&Notice::Alive);
        }
    }

    /// Takes notice of what another process tells until it is done.
    fn listen(&self, process: usize, mut stream: TcpStream, events: &Sender<(usize, Event)>) {
        loop {
            let event = match frame::read(&mut stream, LONGEST_NOTICE) {
                Ok(Notice::Alive) => continue,
                Ok(Notice::Work(work)) => Event::Work(work),
                Ok(Notice::Done) => Event::Done,
                Ok(Notice::Failed(failed)) => self.pass_on(failed),
                Err(error) => self.lost(process, &error),
            };
            let is_done = matches!(event, Event::Done);
            // Whoever waits for it is there as long as the process.
            let _ = events.send((process, event));
            if is_done {
                return;
            }
        }
    }

    /// Ends this process and all others because one of them is gone.
    fn lost(&self, process: usize, error: &io::Error) -> ! {
        let reason = match error.kind() {
            _ if is_timeout(error) => format!("it gave no sign of life for {} s", self.patience.as_secs_f64()),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
                "it ended before the query was answered".to_owned()
            }
            _ => error.to_string(),
        };
        self.pass_on(Failed::run(format!("{} is lost: {reason}", self.hosts.name(process))))
    }

    /// Ends this process because of another one. The others are told before: some may see the end of this process
    /// sooner than they hear from the one that failed.
    fn pass_on(&self, failed: Failed) -> ! {
        claim();
        let code = failed.report();
        self.tell(&Notice::Failed(failed));
        exit(code)
    }

    fn tell(&self, notice: &Notice) {
        for stream in &self.streams {
            let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
            // Whoever listens to it knows better why.
            let _ = frame::write(&mut *stream, notice);
        }
    }

    /// What others tell.
    fn next_event(&self, patience: Duration) -> Option<(usize, Event)> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(patience).ok()
    }

    /// Makes sure that all processes work on the same.
    pub(crate) fn agree(&self, work: &Work) -> Result<(), Failed> {
        self.tell(&Notice::Work(work.clone()));
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

    /// Waits until the first process has printed the answer.
    pub(crate) fn wait_for_answer(&self) {
        self.wait_for(|process, event| (process == 0 && matches!(event, Event::Done)).then_some(()));
    }

    fn wait_for<T>(&self, wanted: impl Fn(usize, Event) -> Option<T>) -> (usize, T) {
        loop {
            let event = self.next_event(self.patience);
            if let Some((process, found)) = event.and_then(|(process, event)| Some((process, wanted(process, event)?)))
            {
                return (process, found);
            }
        }
    }

    /// Ends this process and all others with a failure of this one, unless it ends already.
    pub(crate) fn fail(&self, failed: Failed) -> ! {
        claim();
        self.end(failed)
    }

    /// The same where the process is [claimed](claim).
    pub(crate) fn end(&self, failed: Failed) -> ! {
        let code = failed.report();
        self.tell(&Notice::Failed(failed.of(&self.hosts.name(self.hosts.own))));
        exit(code)
    }

    /// Tells the others that this process is done, where it is [claimed](claim).
    pub(crate) fn finish(&self) {
        self.tell(&Notice::Done);
        if self.hosts.own == 0 {
            // They may still read.
            let mut open = self.streams.len();
            while open > 0 && self.next_event(PATIENCE_AT_END).is_some() {
                open -= 1;
            }
        }
    }
}

/// Returns if no thread ends this process yet: the caller does.
pub(crate) fn claim() {
    if IS_ENDING.swap(true, SeqCst) {
        loop {
            park();
        }
    }
}

fn exit(code: u8) -> ! {
    remove_unfinished();
    std::process::exit(code.into())
}
