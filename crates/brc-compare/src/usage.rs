//! What this process has used of the machine so far, as the system tells it.

use std::fs;

/// Time on processors, of all threads together, in nanoseconds.
pub(crate) fn cpu_ns() -> Option<u64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec).ok()?.checked_mul(1_000_000_000)?.checked_add(u64::try_from(time.tv_nsec).ok()?)
}

/// The most memory there ever was, in bytes; mapped parts of files count.
pub(crate) fn peak_memory() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:").map(|kibibytes| kibibytes << 10)
}

/// Bytes that had to come from a disk.
pub(crate) fn fetched_bytes() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/io").ok()?, "read_bytes:")
}

/// The first number behind the name of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "VmPeak:\t  99 kB\nVmHWM:\t  1234 kB\n";
        assert_eq!(field(text, "VmHWM:"), Some(1234));
        assert_eq!(field(text, "VmSwap:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn work_costs_time_and_memory() {
        let before = cpu_ns().unwrap();
        let bytes = vec![1_u8; 8 << 20];
        assert_eq!(std::hint::black_box(&bytes).iter().map(|&byte| u64::from(byte)).sum::<u64>(), 8 << 20);
        assert!(cpu_ns().unwrap() > before);
        assert!(peak_memory().unwrap() > 8 << 20);
    }
}
