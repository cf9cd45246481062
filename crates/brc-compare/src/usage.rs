//! Reads the resource usage of this process from the system.

#[cfg(not(any(windows, target_vendor = "apple")))]
use std::fs;

/// The resources used so far; 0 where the system does not report them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of all threads, in nanoseconds.
    pub cpu_ns: u64,
    /// Resident memory in bytes, including mapped files.
    pub memory: u64,
    /// Peak resident memory in bytes.
    pub peak_memory: u64,
    /// Page faults without disk access.
    pub minor_faults: u64,
    /// Page faults with disk access.
    pub major_faults: u64,
}

impl Usage {
    /// Reads the current usage from the system.
    #[must_use]
    pub fn now() -> Self {
        Self { cpu_ns: cpu_ns().unwrap_or(0), ..Self::of_memory().unwrap_or_default() }
    }

    #[cfg(target_vendor = "apple")]
    fn of_memory() -> Option<Self> {
        let brc_kernels::apple::Used { memory, peak_memory, minor_faults, major_faults, .. } =
            brc_kernels::apple::used()?;
        Some(Self { memory, peak_memory, minor_faults, major_faults, cpu_ns: 0 })
    }

    #[cfg(windows)]
    fn of_memory() -> Option<Self> {
        let brc_kernels::windows::Used { memory, peak_memory, faults } = brc_kernels::windows::used()?;
        Some(Self { memory, peak_memory, minor_faults: faults, ..Self::default() })
    }

    #[cfg(not(any(windows, target_vendor = "apple")))]
    fn of_memory() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let bytes = |name| field(&status, name).unwrap_or(0) << 10;
        let [minor_faults, major_faults] = faults(&fs::read_to_string("/proc/self/stat").unwrap_or_default());
        let (memory, peak_memory) = (bytes("VmRSS:"), bytes("VmHWM:"));
        Some(Self { memory, peak_memory, minor_faults, major_faults, cpu_ns: 0 })
    }
}

/// The minor and major page faults in `/proc/self/stat`. The program name, in parentheses, may contain spaces.
#[cfg(any(test, not(any(windows, target_vendor = "apple"))))]
fn faults(stat: &str) -> [u64; 2] {
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // Fields after the name: state, parent, group, session, terminal and its group, flags.
    let field = |index| fields.split_whitespace().nth(index).and_then(|field| field.parse().ok()).unwrap_or(0);
    [field(7), field(9)]
}

/// CPU time of all threads, in nanoseconds.
pub(crate) fn cpu_ns() -> Option<u64> {
    #[cfg(windows)]
    return brc_kernels::windows::cpu_ns();
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        u64::try_from(time.tv_sec).ok()?.checked_mul(1_000_000_000)?.checked_add(u64::try_from(time.tv_nsec).ok()?)
    }
}

/// Peak resident memory in bytes, including mapped files.
pub(crate) fn peak_memory() -> Option<u64> {
    Usage::of_memory().map(|usage| usage.peak_memory)
}

/// Bytes read from disks.
pub(crate) fn fetched_bytes() -> Option<u64> {
    #[cfg(windows)]
    return None;
    #[cfg(target_vendor = "apple")]
    return brc_kernels::apple::used().map(|used| used.read_bytes);
    #[cfg(not(any(windows, target_vendor = "apple")))]
    field(&fs::read_to_string("/proc/self/io").ok()?, "read_bytes:")
}

/// The first number after the name that starts a line.
#[cfg(any(test, not(any(windows, target_vendor = "apple"))))]
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
    fn faults_are_found_after_any_name() {
        assert_eq!(faults("7 (a) b (c) S 1 2 3 4 5 6 70 0 8 0 9"), [70, 8]);
        assert_eq!(faults(""), [0, 0]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn work_costs_time_and_memory() {
        let before = cpu_ns().unwrap();
        let bytes = vec![1_u8; 8 << 20];
        assert_eq!(std::hint::black_box(&bytes).iter().map(|&byte| u64::from(byte)).sum::<u64>(), 8 << 20);
        assert!(cpu_ns().unwrap() > before);
        assert!(peak_memory().unwrap() > 8 << 20);
        let now = Usage::now();
        assert!(now.memory > 8 << 20 && now.peak_memory >= now.memory && now.minor_faults > 100);
    }
}
