//! Determines how much memory this process may use.

use std::fs;
use std::path::Path;

/// The memory of the machine in bytes, or the limit of the control groups of this process if that is less. `None` if
/// the system does not report it.
pub(crate) fn system_memory() -> Option<u64> {
    #[cfg(target_vendor = "apple")]
    let of_machine = brc_kernels::apple::machine_memory();
    #[cfg(windows)]
    let of_machine = brc_kernels::windows::machine_memory();
    #[cfg(not(any(windows, target_vendor = "apple")))]
    let of_machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_groups = groups.lines().filter_map(limit_of_group);
    of_machine.into_iter().chain(of_groups).min()
}

/// The memory of the machine in bytes.
#[cfg(any(test, not(any(windows, target_vendor = "apple"))))]
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The lowest limit of a control group and its ancestors, given a line of `/proc/self/cgroup` such as
/// `0::/user/session`.
fn limit_of_group(line: &str) -> Option<u64> {
    let (_, controllers, path) = {
        let mut parts = line.splitn(3, ':');
        (parts.next()?, parts.next()?, parts.next()?)
    };
    // Version 2 has one hierarchy, version 1 has one for memory.
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return None,
    };
    let group = Path::new(path.trim_start_matches('/'));
    let limit = |group: &Path| fs::read_to_string(Path::new(root).join(group).join(file)).ok()?.trim().parse().ok();
    group.ancestors().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_machine_is_read() {
        assert_eq!(total("MemTotal:       24575000 kB\nMemFree:  1 kB\n"), Some(24_575_000 * 1024));
        assert_eq!(total("MemFree:  1 kB\n"), None);
        assert!(system_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
