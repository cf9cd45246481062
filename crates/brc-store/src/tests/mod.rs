//! Files on a faulty server: each request is retried until it succeeds, or is an error that names the bytes. The bytes
//! that are returned are always those of the file.

mod server;

use crate::{Address, InOrder, Object};
use brc_core::ReadAt;
use server::{Fault, Server};
use std::io::{Read, Result};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Bytes that failed tests do not print.
#[derive(PartialEq)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} bytes", self.0.len())
    }
}

/// Longer than what the first request fetches.
const LENGTH: usize = 600_000;

fn content() -> Vec<u8> {
    (0..LENGTH as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn address(server: &Server) -> Address {
    Address::parse(Path::new(&server.url("t.bin?x=1"))).unwrap()
}

/// Runs a function that must not take long.
fn in_time<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(run()));
    receiver.recv_timeout(Duration::from_secs(60)).expect("it takes too long")
}

/// Reads the middle of a file while the requests after the first one have these faults.
fn read_middle(faults: &[Fault]) -> (Result<Bytes>, usize) {
    let server = Server::start(content());
    let object = Object::open(&address(&server)).unwrap().unwrap();
    assert_eq!(object.length().unwrap(), LENGTH as u64);
    server.script(faults);
    let before = server.requests().len();
    let outcome = in_time(move || {
        let mut bytes = vec![0; 100_000];
        object.read_exact_at(&mut bytes, 200_000).map(|()| Bytes(bytes))
    });
    (outcome, server.requests().len() - before)
}

/// Reads all of a file in order while its requests have these faults.
fn read_all(faults: &[Fault]) -> (Result<Bytes>, Vec<String>) {
    let server = Server::start(content());
    server.script(faults);
    let address = address(&server);
    let outcome = in_time(move || {
        let mut bytes = Vec::new();
        let opened = InOrder::open(&address).map_err(std::io::Error::other);
        opened.and_then(|mut file| file.read_to_end(&mut bytes)).map(|_| Bytes(bytes))
    });
    (outcome, server.requests())
}

#[test]
fn temporary_failures_are_retried() {
    for fault in [Fault::Busy, Fault::Short(1000), Fault::Breaks(50_000), Fault::OtherRange, Fault::Stalls] {
        let (bytes, requests) = read_middle(&[fault, fault]);
        assert_eq!(bytes.unwrap(), Bytes(content()[200_000..300_000].to_vec()), "{fault:?}");
        assert_eq!(requests, 3, "{fault:?}");
    }
}

#[test]
fn permanent_failures_name_the_bytes() {
    for (fault, reason) in [
        (Fault::Busy, "503"),
        (Fault::Short(1000), "sent 1000 bytes of 100000"),
        (Fault::OtherRange, "Requested 200000..300000"),
        (Fault::Stalls, "sent nothing for"),
        (Fault::WholeFile, "whole files"),
        (Fault::Changes, "changed or replaced"),
        (Fault::ChangesSilently, "changed or replaced"),
        (Fault::Gone, "no such file"),
        (Fault::Denied, "access is denied"),
    ] {
        let error = read_middle(&[fault; 100]).0.unwrap_err().to_string();
        assert!(error.starts_with("bytes 200000 to 300000: ") && error.contains(reason), "{fault:?}: {error}");
    }
}

#[test]
fn interrupted_reads_resume() {
    let (bytes, requests) = read_all(&[Fault::Busy, Fault::Breaks(100_000), Fault::Stalls, Fault::Breaks(300_000)]);
    assert_eq!(bytes.unwrap(), Bytes(content()));
    assert!(!requests[1].contains("range:"), "{requests:?}");
    assert!(requests.iter().any(|request| request.contains("range: bytes=100000-")), "{requests:?}");
    assert!(requests[2..].iter().all(|request| request.contains("if-match: \"1\"")), "{requests:?}");
}

#[test]
fn changes_during_reads_are_an_error() {
    for fault in [Fault::Changes, Fault::ChangesSilently, Fault::WholeFile] {
        let error = read_all(&[Fault::Breaks(100_000), fault]).0.expect_err("the file has changed").to_string();
        assert!(error.starts_with("bytes 100000 to 600000: "), "{fault:?}: {error}");
    }
    let error = read_all(&[Fault::Breaks(100_000), Fault::Gone]).0.unwrap_err().to_string();
    assert!(error.contains("no such file"), "{error}");
}

#[test]
fn servers_without_ranges_are_read_in_order() {
    let server = Server::start(content());
    for fault in [Fault::WholeFile, Fault::NoSuchRange] {
        server.script(&[fault]);
        assert!(Object::open(&address(&server)).unwrap().is_none(), "{fault:?}");
    }
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn files_of_unknown_length_are_refused_at_once() {
    let advice = "the server does not say how long it is; read it from a pipe: curl -sL 'http://";
    let (outcome, requests) = read_all(&[Fault::NoLength; 10]);
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains(advice) && requests.len() <= 2, "{error} {requests:?}");
    // Files are opened in parts first.
    let server = Server::start(content());
    server.script(&[Fault::NoLength; 10]);
    assert!(Object::open(&address(&server)).unwrap().is_none());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn expected_ranges_take_few_requests() {
    let server = Server::start(content());
    let object = Object::open(&address(&server)).unwrap().unwrap();
    object.expect(vec![0..50_000, 51_000..90_000, 300_000..310_000]);
    let mut bytes = vec![0; 39_000];
    object.read_exact_at(&mut bytes, 51_000).unwrap();
    assert_eq!(bytes, content()[51_000..90_000]);
    object.read_exact_at(&mut bytes[..10_000], 300_000).unwrap();
    assert_eq!(bytes[..10_000], content()[300_000..310_000]);
    // The first request fetched the end.
    object.read_exact_at(&mut bytes[..1000], LENGTH as u64 - 1000).unwrap();
    assert_eq!(bytes[..1000], content()[LENGTH - 1000..]);
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "{requests:?}");
    assert!(requests.iter().any(|request| request.contains("range: bytes=0-89999")), "{requests:?}");
    assert!(requests[1..].iter().all(|request| request.contains("if-match: \"1\"")), "{requests:?}");
}

#[test]
fn threads_read_in_parallel() {
    let server = Server::start(content());
    let object = Object::open(&address(&server)).unwrap().unwrap();
    std::thread::scope(|scope| {
        for start in 0..6 {
            let object = &object;
            scope.spawn(move || {
                for part in (start..60).step_by(6) {
                    let mut bytes = vec![0; 10_000];
                    object.read_exact_at(&mut bytes, part * 10_000).unwrap();
                    assert_eq!(bytes, content()[part as usize * 10_000..][..10_000]);
                }
            });
        }
    });
}

#[test]
fn empty_files_are_valid() {
    let server = Server::start(Vec::new());
    let mut bytes = Vec::new();
    InOrder::open(&address(&server)).unwrap().read_to_end(&mut bytes).unwrap();
    assert!(bytes.is_empty());
}
