//! What Windows tells of the machine and of this process.

use std::mem::{size_of, zeroed};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

/// The memory of the machine, in bytes.
#[must_use]
pub fn machine_memory() -> Option<u64> {
    // SAFETY: all zeros are such a structure, whose size the system is told to fill.
    unsafe {
        let mut status = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..zeroed() };
        (GlobalMemoryStatusEx(&mut status) != 0).then_some(status.ullTotalPhys)
    }
}

/// Time on processors of all threads of this process together, in nanoseconds.
#[must_use]
pub fn cpu_ns() -> Option<u64> {
    let nothing = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let [mut created, mut ended, mut in_system, mut in_program] = [nothing; 4];
    // SAFETY: the system fills the four, and the process is this one.
    let is_told =
        unsafe { GetProcessTimes(GetCurrentProcess(), &mut created, &mut ended, &mut in_system, &mut in_program) != 0 };
    // In units of 100 nanoseconds.
    let units = |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    is_told.then(|| (units(in_system) + units(in_program)) * 100)
}

/// Memory that this process has in use, and the most that it ever had, in bytes; and page faults.
#[derive(Debug, Clone, Copy)]
pub struct Used {
    /// Memory in use, in bytes.
    pub memory: u64,
    /// The most memory there ever was, in bytes.
    pub peak_memory: u64,
    /// Page faults; whether they needed a disk is not known.
    pub faults: u64,
}

/// What this process used so far.
#[must_use]
pub fn used() -> Option<Used> {
    // SAFETY: all zeros are such a structure, whose size the system is told to fill, and the process is this one.
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
    fn the_system_tells() {
        assert!(machine_memory().is_some_and(|bytes| bytes > 1 << 20));
        let used = used().unwrap();
        assert!(used.memory > 1 << 16 && used.peak_memory >= used.memory);
        assert!(cpu_ns().is_some());
    }
}
