//! A local web server for tests, with a single file and scripted faults.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A fault in the response to a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// The status is 503.
    Busy,
    /// It announces and has only this number of bytes, fewer than requested.
    Short(usize),
    /// The connection ends after this number of bytes.
    Breaks(usize),
    /// It has different bytes than requested.
    OtherRange,
    /// It stops in the middle and keeps the connection open.
    Stalls,
    /// It has the whole file, whatever range was requested.
    WholeFile,
    /// The file has changed, and the server reports it.
    Changes,
    /// The file has changed, but the server ignores the precondition.
    ChangesSilently,
    /// The file no longer exists.
    Gone,
    /// The file may no longer be read.
    Denied,
    /// The server does not support such ranges.
    NoSuchRange,
    /// The whole file without its length, which ends with the connection.
    NoLength,
}

/// A server that runs until the process ends.
pub(super) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    content: Vec<u8>,
    faults: Mutex<VecDeque<Fault>>,
    requests: Mutex<Vec<String>>,
}

impl Server {
    /// Starts a server that has these bytes under any name.
    pub(super) fn start(content: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { content, faults: Mutex::default(), requests: Mutex::default() });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, shared) = (stream.unwrap(), Arc::clone(&serving));
                std::thread::spawn(move || while let Some(true) = shared.answer(&stream) {});
            }
        });
        Self { address, shared }
    }

    /// The address of a file.
    pub(super) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Sets the faults of the next responses, in order.
    pub(super) fn script(&self, faults: &[Fault]) {
        *self.shared.faults.lock() = faults.iter().copied().collect();
    }

    /// All requests so far, with lower-case headers.
    pub(super) fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().clone()
    }
}

impl Shared {
    /// Responds to a request. Returns whether the connection stays open; `None` if there is no request.
    fn answer(&self, stream: &TcpStream) -> Option<bool> {
        let mut lines = BufReader::new(stream).lines();
        let mut request = lines.next()?.ok()?;
        for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
            request += &format!("\n{}", line.to_ascii_lowercase());
        }
        self.requests.lock().push(request.clone());
        let fault = self.faults.lock().pop_front();
        let range = range(&request, self.content.len() as u64);
        self.send(stream, range, fault).ok()
    }

    fn send(&self, mut stream: &TcpStream, range: Option<Range<u64>>, fault: Option<Fault>) -> std::io::Result<bool> {
        let status = match fault {
            Some(Fault::Busy) => Some("503 Service Unavailable"),
            Some(Fault::Changes) => Some("412 Precondition Failed"),
            Some(Fault::Gone) => Some("404 Not Found"),
            Some(Fault::Denied) => Some("403 Forbidden"),
            Some(Fault::NoSuchRange) => Some("416 Range Not Satisfiable"),
            _ => None,
        };
        if let Some(status) = status {
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n")?;
            return Ok(true);
        }
        if let Some(Fault::NoLength) = fault {
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            stream.write_all(&self.content)?;
            stream.shutdown(std::net::Shutdown::Both)?;
            return Ok(false);
        }
        let total = self.content.len() as u64;
        let part = range.filter(|_| !matches!(fault, Some(Fault::WholeFile)));
        let mut sent = part.clone().unwrap_or(0..total);
        if let Some(Fault::OtherRange) = fault {
            sent = sent.start + 1..total.min(sent.end + 1);
        }
        let mut body = &self.content[sent.start as usize..sent.end as usize];
        if let Some(Fault::Short(bytes)) = fault {
            body = &body[..bytes];
        }
        let tag = if matches!(fault, Some(Fault::ChangesSilently)) { 2 } else { 1 };
        let status = match &part {
            Some(_) => format!("206 Partial Content\r\nContent-Range: bytes {}-{}/{total}", sent.start, sent.end - 1),
            None => "200 OK".to_owned(),
        };
        write!(stream, "HTTP/1.1 {status}\r\nETag: \"{tag}\"\r\nContent-Length: {}\r\n\r\n", body.len())?;
        match fault {
            Some(Fault::Breaks(bytes)) => stream.write_all(&body[..bytes.min(body.len())])?,
            Some(Fault::Stalls) => {
                stream.write_all(&body[..body.len() / 2])?;
                // The client has given up by then.
                std::thread::sleep(Duration::from_secs(30));
            }
            _ => {
                stream.write_all(body)?;
                return Ok(true);
            }
        }
        stream.shutdown(std::net::Shutdown::Both)?;
        Ok(false)
    }
}

/// The requested byte range; `None` for the whole file.
fn range(request: &str, total: u64) -> Option<Range<u64>> {
    let wanted = request.lines().find_map(|line| line.strip_prefix("range: bytes="))?;
    let (start, end) = wanted.split_once('-')?;
    let start: Option<u64> = start.parse().ok();
    let end: Option<u64> = end.parse().ok();
    Some(match (start, end) {
        (Some(start), end) => start..end.map_or(total, |last| total.min(last + 1)),
        (None, last) => total.saturating_sub(last?)..total,
    })
    .filter(|range| range.start < range.end)
}
