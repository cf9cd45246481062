//! Reads the addresses of the processes from a hosts file with one `host:port` per line, the format of other timely
//! dataflow programs.

use crate::failure::Failed;
use std::collections::HashSet;
use std::path::Path;

/// The addresses of all processes, and the number of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts {
    /// The addresses, starting with that of process 0.
    pub(crate) addresses: Vec<String>,
    /// The number of this process.
    pub(crate) own: usize,
}

impl Hosts {
    /// A single process.
    pub(crate) fn alone() -> Self {
        Self { addresses: vec!["this process".to_owned()], own: 0 }
    }

    /// Reads the first `processes` lines of a file, skipping empty ones and those that begin with `#`.
    pub(crate) fn read(path: &Path, processes: usize, own: usize) -> Result<Self, Failed> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failed::run(format!("{}: cannot read: {error}", path.display())))?;
        Self::parse(&text, processes, own).map_err(|reason| Failed::usage(format!("{}: {reason}", path.display())))
    }

    fn parse(text: &str, processes: usize, own: usize) -> Result<Self, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let addresses: Vec<String> = lines.take(processes).map(str::to_owned).collect();
        if addresses.len() < processes {
            return Err(format!("it has {} addresses, and -n asks for {processes} processes", addresses.len()));
        }
        if own >= processes {
            return Err(format!("-p {own} is out of range: the {processes} processes are numbered from 0"));
        }
        let mut known = HashSet::new();
        for address in &addresses {
            let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
            if !port.is_some_and(|port| port.parse().is_ok_and(|port: u16| port > 0)) {
                return Err(format!("'{address}' is not an address as in host:2101"));
            }
            if !known.insert(address) {
                return Err(format!("{address} is listed twice"));
            }
        }
        Ok(Self { addresses, own })
    }

    /// The name of a process in messages.
    pub(crate) fn name(&self, process: usize) -> String {
        format!("process {process} ({})", self.addresses.get(process).map_or("?", String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        let hosts = Hosts::parse("# three\n one:2101\n\n[::1]:2102\r\ntwo:1\n", 2, 1).unwrap();
        assert_eq!(hosts.addresses, ["one:2101", "[::1]:2102"]);
        assert_eq!(hosts.name(1), "process 1 ([::1]:2102)");
        for (text, processes, own, reason) in [
            ("a:1\n", 2, 0, "it has 1 addresses, and -n asks for 2 processes"),
            ("a:1\nb:1\n", 2, 2, "-p 2 is out of range: the 2 processes are numbered from 0"),
            ("a:1\na:1\n", 2, 0, "a:1 is listed twice"),
            ("a\n", 1, 0, "'a' is not an address as in host:2101"),
            (":1\n", 1, 0, "':1' is not an address as in host:2101"),
            ("a:0\n", 1, 0, "'a:0' is not an address as in host:2101"),
            ("a:70000\n", 1, 0, "'a:70000' is not an address as in host:2101"),
        ] {
            assert_eq!(Hosts::parse(text, processes, own), Err(reason.to_owned()));
        }
    }
}
