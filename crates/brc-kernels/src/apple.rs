//! Information on the machine and this process on macOS, which has no `/proc`.

use std::ffi::CStr;
use std::mem::{MaybeUninit, size_of};
use std::ptr::{from_mut, null, null_mut};

/// The size of the physical memory, in bytes.
#[must_use]
pub fn machine_memory() -> Option<u64> {
    let (mut value, mut size) = (0u64, size_of::<u64>());
    // SAFETY: the name ends with NUL, and the system writes no more than `size` bytes.
    let outcome = unsafe {
        libc::sysctlbyname(c"hw.memsize".as_ptr(), from_mut(&mut value).cast(), &raw mut size, null_mut(), 0)
    };
    (outcome == 0 && size == size_of::<u64>()).then_some(value)
}

/// A textual system parameter, such as `machdep.cpu.brand_string`.
#[must_use]
pub fn text(name: &CStr) -> Option<String> {
    let (mut bytes, mut size) = ([0u8; 256], 256);
    // SAFETY: the name ends with NUL, and the system writes no more than `size` bytes.
    let outcome = unsafe { libc::sysctlbyname(name.as_ptr(), bytes.as_mut_ptr().cast(), &raw mut size, null_mut(), 0) };
    let text = CStr::from_bytes_until_nul(&bytes).ok().filter(|_| outcome == 0)?;
    Some(text.to_string_lossy().into_owned())
}

/// The resources used by this process so far.
#[derive(Debug, Clone, Copy)]
pub struct Used {
    /// Resident memory, in bytes.
    pub memory: u64,
    /// Peak resident memory, in bytes.
    pub peak_memory: u64,
    /// Page faults without disk access.
    pub minor_faults: u64,
    /// Page faults with disk access.
    pub major_faults: u64,
    /// Bytes read from disks.
    pub read_bytes: u64,
}

/// The resources used by this process so far.
#[must_use]
pub fn used() -> Option<Used> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the system fills the structure; all zeros are a valid value, too.
    let usage = unsafe { (libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) == 0).then(|| usage.assume_init()) }?;
    let mut info = MaybeUninit::<libc::rusage_info_v4>::zeroed();
    // SAFETY: the structure has the version that is requested; all zeros are a valid value, too.
    let info = unsafe {
        let outcome = libc::proc_pid_rusage(libc::getpid(), libc::RUSAGE_INFO_V4, info.as_mut_ptr().cast());
        (outcome == 0).then(|| info.assume_init())
    }?;
    let count = |value: i64| u64::try_from(value).unwrap_or(0);
    Some(Used {
        memory: info.ri_resident_size,
        peak_memory: count(usage.ru_maxrss),
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        read_bytes: info.ri_diskio_bytesread,
    })
}

/// Whether a signal is ignored.
#[must_use]
pub fn ignores(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action nothing changes, and the system fills the structure with the current action.
    unsafe {
        libc::sigaction(signal, null(), action.as_mut_ptr()) == 0 && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}
