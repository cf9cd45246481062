//! Connects each process to all others before any large message is sent.
//!
//! Each pair has two connections: one for the rows that timely exchanges, and one for control messages. The process
//! with the higher number connects to the other.

use crate::failure::Failed;
use crate::frame;
use crate::hosts::Hosts;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The interval between connection attempts.
const PERIOD: Duration = Duration::from_millis(20);

/// The time to wait for the greeting of an incoming connection before it is dropped as foreign.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum size of a [`Hello`] in bytes.
const MAX_HELLO_BYTES: u32 = 1 << 12;

const PROGRAM: &str = "brc-timely";

/// The greeting of a process on each connection. Other versions must keep these fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Hello {
    program: String,
    version: String,
    process: u64,
    processes: u64,
    workers: u64,
    channel: Channel,
}

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Channel {
    /// Control messages.
    Control,
    /// The rows that timely exchanges.
    Data,
}

/// The connections to another process.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) process: usize,
    pub(crate) control: TcpStream,
    pub(crate) data: TcpStream,
}

/// Connects this process to the others.
pub(crate) struct Connector<'a> {
    hosts: &'a Hosts,
    /// The number of worker threads of this process.
    workers: usize,
    start: Instant,
    deadline: Instant,
}

impl<'a> Connector<'a> {
    pub(crate) fn new(hosts: &'a Hosts, workers: usize, timeout: Duration) -> Self {
        let start = Instant::now();
        Self { hosts, workers, start, deadline: start + timeout }
    }

    /// Connects to all other processes, in the order of their numbers.
    pub(crate) fn connect(&self) -> Result<Vec<Connection>, Failed> {
        let Hosts { addresses, own } = self.hosts;
        let listen = |address: &String| {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = listen(&addresses[*own])
            .map_err(|error: io::Error| Failed::run(format!("cannot listen on {}: {error}", addresses[*own])))?;
        let mut connections = Vec::new();
        for process in 0..*own {
            let control = self.call(process, Channel::Control)?;
            connections.push(Connection { process, control, data: self.call(process, Channel::Data)? });
        }
        let others = self.accept_all(&listener, &connections)?;
        connections.extend(others);
        Ok(connections)
    }

    fn hello(&self, channel: Channel) -> Hello {
        Hello {
            program: PROGRAM.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: self.hosts.own as u64,
            processes: self.hosts.addresses.len() as u64,
            workers: self.workers as u64,
            channel,
        }
    }

    /// Connects to a process that may not have started yet.
    fn call(&self, process: usize, channel: Channel) -> Result<TcpStream, Failed> {
        let mut stream = loop {
            match self.open(&self.hosts.addresses[process]) {
                Ok(stream) => break stream,
                Err(error) if Instant::now() + PERIOD > self.deadline => {
                    return Err(self.absent(&[process], &error.to_string()));
                }
                Err(_) => sleep(PERIOD),
            }
        };
        let answer = frame::write(&mut stream, &self.hello(channel)).and_then(|()| {
            stream.set_read_timeout(Some(self.left()))?;
            frame::read::<Hello>(&mut stream, MAX_HELLO_BYTES)
        });
        match answer {
            Ok(hello) if hello.program == PROGRAM => self.check(&hello, Some(process))?,
            Err(error) if is_timeout(&error) => return Err(self.absent(&[process], "it does not answer")),
            Ok(_) | Err(_) => {
                let name = self.hosts.name(process);
                return Err(Failed::run(format!("{name} closed the connection, or is not brc-timely")));
            }
        }
        Ok(stream)
    }

    fn open(&self, address: &str) -> io::Result<TcpStream> {
        let mut error = io::Error::new(ErrorKind::NotFound, "the name has no address");
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, self.left()) {
                Ok(stream) => return stream.set_nodelay(true).map(|()| stream),
                Err(refused) => error = refused,
            }
        }
        Err(error)
    }

    /// Accepts the connections of all processes with higher numbers.
    fn accept_all(&self, listener: &TcpListener, connected: &[Connection]) -> Result<Vec<Connection>, Failed> {
        let first = self.hosts.own + 1;
        let mut found: Vec<[Option<TcpStream>; 2]> =
            (first..self.hosts.addresses.len()).map(|_| [None, None]).collect();
        while found.iter().flatten().any(Option::is_none) {
            match listener.accept() {
                Ok((stream, _)) => {
                    let Some((hello, stream)) = self.greet(stream) else { continue };
                    self.check(&hello, None)?;
                    let slot = (hello.process as usize).checked_sub(first).and_then(|index| found.get_mut(index));
                    let slot = slot.map(|channels| &mut channels[hello.channel as usize]);
                    match slot.filter(|slot| slot.is_none()) {
                        Some(slot) => *slot = Some(stream),
                        None => {
                            let message = format!("another process was started with -p {}, too", hello.process);
                            return Err(Failed::usage(message));
                        }
                    }
                }
                Err(_) => {
                    self.check_wait(connected, &found)?;
                    sleep(PERIOD);
                }
            }
        }
        let connection = |(process, channels): (usize, [Option<TcpStream>; 2])| match channels {
            [Some(control), Some(data)] => Some(Connection { process, control, data }),
            _ => None,
        };
        Ok((first..).zip(found).filter_map(connection).collect())
    }

    /// Stops waiting at the deadline, or if a connected process has ended.
    fn check_wait(&self, connected: &[Connection], found: &[[Option<TcpStream>; 2]]) -> Result<(), Failed> {
        let numbered = (self.hosts.own + 1..).zip(found);
        let absent = numbered.clone().filter(|(_, channels)| channels.iter().any(Option::is_none));
        let absent: Vec<usize> = absent.map(|(process, _)| process).collect();
        if Instant::now() >= self.deadline {
            return Err(self.absent(&absent, "it did not connect"));
        }
        let outgoing = connected.iter().map(|connection| (connection.process, &connection.control));
        let mut open =
            outgoing.chain(numbered.filter_map(|(process, channels)| Some((process, channels[0].as_ref()?))));
        match open.find(|(_, control)| is_closed(control)) {
            Some((process, _)) => Err(self.absent(&absent, &format!("{} has ended", self.hosts.name(process)))),
            None => Ok(()),
        }
    }

    /// Answers a greeting; `None` if the other side is a different program.
    fn greet(&self, mut stream: TcpStream) -> Option<(Hello, TcpStream)> {
        let greet = |stream: &mut TcpStream| -> io::Result<Hello> {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(GREETING_TIMEOUT))?;
            let hello: Hello = frame::read(stream, MAX_HELLO_BYTES)?;
            frame::write(stream, &self.hello(hello.channel))?;
            Ok(hello)
        };
        let hello = greet(&mut stream).ok().filter(|hello| hello.program == PROGRAM)?;
        Some((hello, stream))
    }

    /// Rejects a process whose version or settings differ from those of this one.
    fn check(&self, hello: &Hello, expected: Option<usize>) -> Result<(), Failed> {
        let (own, process) = (self.hello(hello.channel), hello.process as usize);
        let name = self.hosts.name(expected.unwrap_or(process));
        let differs = |what: &str, theirs: &dyn ToString, ours: &dyn ToString| {
            let (theirs, ours) = (theirs.to_string(), ours.to_string());
            Err(Failed::usage(format!("{name} was started with {what} {theirs}, and this one with {what} {ours}")))
        };
        if hello.version != own.version {
            let (theirs, ours) = (&hello.version, &own.version);
            return Err(Failed::run(format!("{name} is brc-timely {theirs}, and this one is {ours}")));
        }
        if hello.processes != own.processes {
            return differs("-n", &hello.processes, &own.processes);
        }
        if expected.is_some_and(|expected| expected != process) || process == self.hosts.own {
            return differs("-p", &process, &self.hosts.own).map_err(|failed: Failed| {
                failed.with_hint("give all processes the same hosts file, and each its own -p")
            });
        }
        if hello.workers != own.workers {
            return differs("-w", &hello.workers, &own.workers);
        }
        Ok(())
    }

    fn absent(&self, processes: &[usize], reason: &str) -> Failed {
        let names: Vec<String> = processes.iter().map(|&process| self.hosts.name(process)).collect();
        let (names, seconds) = (names.join(", "), self.start.elapsed().as_secs_f64());
        Failed::run(format!("no connection with {names} after {seconds:.0} s: {reason}"))
            .with_hint("start all processes; --timeout sets how long they wait for each other")
    }

    /// The time until the deadline; never zero, which would mean no timeout.
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).max(PERIOD)
    }
}

/// Whether the other side has closed a connection.
fn is_closed(stream: &TcpStream) -> bool {
    let peeked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let is_open = match peeked {
        Ok(count) => count > 0,
        Err(error) => is_timeout(&error),
    };
    !is_open || stream.set_nonblocking(false).is_err()
}

/// Whether a read failed because of a timeout.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::scope;

    fn hosts(own: usize) -> (Hosts, TcpListener) {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let addresses = listeners.each_ref().map(|listener| listener.local_addr().unwrap().to_string()).to_vec();
        let [first, _] = listeners;
        (Hosts { addresses, own }, first)
    }

    /// The failure of a process that connects to one with a changed greeting.
    fn refusal(change: fn(&mut Hello)) -> Failed {
        let (hosts, listener) = hosts(1);
        let connector = Connector::new(&hosts, 2, Duration::from_secs(10));
        scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut hello: Hello = frame::read(&mut stream, MAX_HELLO_BYTES).unwrap();
                hello.process = 0;
                change(&mut hello);
                frame::write(&mut stream, &hello).unwrap();
            });
            connector.connect().unwrap_err()
        })
    }

    #[test]
    fn processes_with_other_settings_are_refused() {
        for (change, message) in [
            ((|hello| hello.version = "9.9.9".to_owned()) as fn(&mut Hello), "is brc-timely 9.9.9, and this one is"),
            (|hello| hello.processes = 7, "was started with -n 7, and this one with -n 2"),
            (|hello| hello.process = 3, "was started with -p 3, and this one with -p 1"),
            (|hello| hello.workers = 5, "was started with -w 5, and this one with -w 2"),
            (|hello| hello.program = "telnet".to_owned(), "is not brc-timely"),
        ] {
            let failed = format!("{:?}", refusal(change));
            assert!(failed.contains(message) && failed.contains("process 0 (127.0.0.1:"), "{failed}");
        }
    }

    #[test]
    fn connections_of_other_programs_are_ignored() {
        let (hosts, listener) = hosts(0);
        drop(listener);
        let second = Hosts { own: 1, ..hosts.clone() };
        let timeout = Duration::from_secs(10);
        scope(|scope| {
            let first = scope.spawn(|| Connector::new(&hosts, 1, timeout).connect().map(|found| found.len()));
            let mut noise = loop {
                match TcpStream::connect(&hosts.addresses[0]) {
                    Ok(stream) => break stream,
                    Err(_) => sleep(PERIOD),
                }
            };
            io::Write::write_all(&mut noise, b"GET / HTTP/1.1\r\n\r\n").unwrap();
            let connected = Connector::new(&second, 1, timeout).connect().map(|found| found.len());
            assert_eq!([first.join().unwrap(), connected], [Ok(1), Ok(1)]);
        });
    }
}
