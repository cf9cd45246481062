//! Describes the machine, the system and the build, without which times cannot be compared.

use brc_core::{TimeUnit, calendar};
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine, its system and this program. Facts that the system does not report are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Environment {
    pub(crate) cpu: Option<String>,
    /// The instruction set in use: the best one available, or a lower one that was requested.
    #[serde(default)]
    pub(crate) cpu_level: Option<String>,
    /// Processors that this process may use.
    pub(crate) processors: usize,
    /// The clock rate that the system reports, from which cycles are computed.
    pub(crate) mhz: Option<f64>,
    /// Of one core: `L2 unified 1024K`.
    pub(crate) caches: Vec<String>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) system: String,
    pub(crate) virtual_machine: Option<bool>,
    pub(crate) version: String,
    pub(crate) commit: Option<String>,
    pub(crate) compiler: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) target: Option<String>,
    /// The versions of all crates of the build, several versions of a crate separated by commas.
    pub(crate) crates: BTreeMap<String, String>,
}

impl Environment {
    /// Detects all facts available to this process.
    pub(crate) fn detect() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let found = Self {
            cpu: cpu(&cpuinfo, fs::read_to_string("/sys/firmware/devicetree/base/model").ok().as_deref()),
            cpu_level: Some(Level::best().name().to_owned()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            mhz: value(&cpuinfo, "cpu MHz").and_then(|mhz| mhz.parse().ok()),
            caches: caches(),
            memory_bytes: value(&meminfo, "MemTotal").and_then(kibibytes),
            system: format!("{} {} {}", std::env::consts::OS, kernel.trim(), std::env::consts::ARCH),
            virtual_machine: value(&cpuinfo, "flags").map(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("BRC_COMMIT").map(str::to_owned),
            compiler: option_env!("BRC_COMPILER").map(str::to_owned),
            profile: option_env!("BRC_PROFILE").map(str::to_owned),
            target: option_env!("BRC_TARGET").map(str::to_owned),
            crates: crates(include_str!(concat!(env!("OUT_DIR"), "/crates.txt"))),
        };
        #[cfg(target_vendor = "apple")]
        return found.with_apple_facts();
        #[cfg(windows)]
        return Self { memory_bytes: brc_kernels::windows::machine_memory(), ..found };
        #[cfg(not(any(windows, target_vendor = "apple")))]
        found
    }

    #[cfg(target_vendor = "apple")]
    fn with_apple_facts(self) -> Self {
        use brc_kernels::apple::{machine_memory, text};
        let kernel = text(c"kern.osrelease").unwrap_or_default();
        Self {
            cpu: text(c"machdep.cpu.brand_string"),
            memory_bytes: machine_memory(),
            system: format!("macOS, Darwin {kernel} {}", std::env::consts::ARCH),
            ..self
        }
    }

    /// The facts that matter for reading times, as label and text.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        let virtual_machine = if self.virtual_machine == Some(true) { ", virtual machine" } else { "" };
        let mhz = self.mhz.map(|mhz| format!(", {mhz:.0} MHz")).unwrap_or_default();
        let cpu = self.cpu.as_deref().unwrap_or("unknown");
        facts.push(("CPU", format!("{cpu}{mhz}, {} processors{virtual_machine}", self.processors)));
        if let Some(level) = &self.cpu_level {
            facts.push(("Instructions", level.clone()));
        }
        if !self.caches.is_empty() {
            facts.push(("Caches", self.caches.join(", ")));
        }
        if let Some(memory) = self.memory_bytes {
            facts.push(("Memory", format!("{:.1} GiB", memory as f64 / (1u64 << 30) as f64)));
        }
        facts.push(("System", self.system.clone()));
        let commit = self.commit.as_deref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
        let profile = self.profile.as_deref().map(|profile| format!(", {profile} build")).unwrap_or_default();
        facts.push(("brc", format!("{}{profile}{commit}", self.version)));
        if let Some(compiler) = &self.compiler {
            facts.push(("Compiler", compiler.clone()));
        }
        facts
    }

    /// Reasons to distrust the times, as sentences.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.profile.as_deref() == Some("debug") {
            warnings.push("This is a debug build: its times mean nothing.".to_owned());
        }
        warnings
    }
}

/// The value of the first line `key : value`.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then_some(value.trim())
    })
}

/// The name of the processor. On ARM systems it is made from the board's name and the codes of vendor and part.
fn cpu(cpuinfo: &str, board: Option<&str>) -> Option<String> {
    if let Some(name) = value(cpuinfo, "model name") {
        return Some(name.to_owned());
    }
    let board = board.map(|board| board.trim_end_matches('\0').trim()).filter(|board| !board.is_empty());
    let part = value(cpuinfo, "CPU implementer").zip(value(cpuinfo, "CPU part")).map(|(implementer, part)| {
        let maker = match implementer {
            "0x41" => "Arm",
            "0x46" => "Fujitsu",
            "0x48" => "HiSilicon",
            "0x4e" => "NVIDIA",
            "0x51" => "Qualcomm",
            "0x61" => "Apple",
            "0x6d" => "Microsoft",
            "0xc0" => "Ampere",
            other => other,
        };
        format!("{maker} {part}")
    });
    match (board, part) {
        (Some(board), Some(part)) => Some(format!("{board}, {part}")),
        (board, part) => board.map(str::to_owned).or(part),
    }
}

/// A number followed by `kB`, in bytes.
fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn caches() -> Vec<String> {
    let cache = |index: u32| {
        let read = |name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
        };
        Some(format!("L{} {} {}", read("level")?, read("type")?.to_lowercase(), read("size")?))
    };
    (0..).map_while(cache).collect()
}

fn crates(lines: &str) -> BTreeMap<String, String> {
    let mut crates = BTreeMap::<String, String>::new();
    for (name, version) in lines.lines().filter_map(|line| line.split_once(' ')) {
        let versions = crates.entry(name.to_owned()).or_default();
        if !versions.is_empty() {
            versions.push_str(", ");
        }
        versions.push_str(version);
    }
    crates
}

/// The host name, if the system or the shell reports it.
pub(crate) fn host_name() -> Option<String> {
    let of_system = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = of_system.or_else(|| std::env::var("HOSTNAME").ok())?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The time in UTC, as `2026-11-20 14:58:40 UTC`.
#[must_use]
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut text = Vec::new();
    calendar::write_timestamp(i64::try_from(seconds).unwrap_or(0), TimeUnit::Second, false, &mut text);
    String::from_utf8_lossy(&text).into_owned() + " UTC"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_understood() {
        let text = "processor\t: 0\nmodel name\t: A: fast one\ncpu MHz\t\t: 2596.132\nMemTotal:  16 kB\n";
        assert_eq!(value(text, "model name"), Some("A: fast one"));
        assert_eq!(value(text, "cpu MHz"), Some("2596.132"));
        assert_eq!(value(text, "MemTotal").and_then(kibibytes), Some(16 << 10));
        assert_eq!(value(text, "bogomips"), None);
    }

    #[test]
    fn processors_have_names() {
        let x86 = "processor\t: 0\nmodel name\t: A: fast one\n";
        let arm = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu(x86, Some("A board\0")).as_deref(), Some("A: fast one"));
        assert_eq!(cpu(arm, Some("A board\0")).as_deref(), Some("A board, Arm 0xd0c"));
        assert_eq!(cpu(arm, None).as_deref(), Some("Arm 0xd0c"));
        assert_eq!(cpu(&arm.replace("0x41", "0x99"), Some("\0")).as_deref(), Some("0x99 0xd0c"));
        assert_eq!(cpu("", Some("A board")).as_deref(), Some("A board"));
        assert_eq!(cpu("", None), None);
    }

    #[test]
    fn the_crates_of_the_build_are_known() {
        let environment = Environment::detect();
        assert!(environment.crates.contains_key("clap"), "{:?}", environment.crates);
        assert_eq!(crates("a 1\nb 2\na 3\n").get("a").map(String::as_str), Some("1, 3"));
        assert!(environment.processors > 0);
    }
}
