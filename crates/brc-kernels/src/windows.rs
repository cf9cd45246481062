//! Information on the machine and this process on Windows.

use std::mem::{size_of, zeroed};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

/// The size of the physical memory, in bytes.
#[must_use]
pub fn machine_memory() -> Option<u64> {
    // SAFETY: all zeros are a valid structure, and its size is set.
    unsafe {
        let mut status = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..zeroed() };
        (GlobalMemoryStatusEx(&mut status) != 0).then_some(status.ullTotalPhys)
    }
}

/// The CPU time of all threads of this process, in nanoseconds.
#[must_use]
pub fn cpu_ns() -> Option<u64> {
    let nothing = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let [mut created, mut ended, mut in_system, mut in_program] = [nothing; 4];
    // SAFETY: the system fills the four structures, and the process is this one.
    let is_told =
        unsafe { GetProcessTimes(GetCurrentProcess(), &mut created, &mut ended, &mut in_system, &mut in_program) != 0 };
    // In units of 100 nanoseconds.
    let units = |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    is_told.then(|| (units(in_system) + units(in_program)) * 100)
}

/// The memory use and page faults of this process.
#[derive(Debug, Clone, Copy)]
pub struct Used {
    /// Resident memory, in bytes.
    pub memory: u64,
    /// Peak resident memory, in bytes.
    pub peak_memory: u64,
    /// Page faults, with or without disk access.
    pub faults: u64,
}

/// The resources used by this process so far.
#[must_use]
pub fn used() -> Option<Used> {
    // SAFETY: all zeros are a valid structure, its size is set, and the process is this one.
    let counters = unsafe {
        let mut counters: PROCESS_MEMORY_COUNTERS = zeroed();
        counters.cb = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
        (K32GetProcessMemoryInfo(GetCurrentProcess(), &mut counters, counters.cb) != 0).then_some(counters)
    }?;
    Some(Used {
        memory: counters.WorkingSetSize as u64,
        peak_memory: counters.PeakWorkingSetSize as u64,
        faults: counters.PageFaultCount.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_information_is_available() {
        assert!(machine_memory().is_some_and(|bytes| bytes > 1 << 20));
        let used = used().unwrap();
        assert!(used.memory > 1 << 16 && used.peak_memory >= used.memory);
        assert!(cpu_ns().is_some());
    }
}
