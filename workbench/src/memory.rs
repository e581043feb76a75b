//! How much memory there is to use: what the machine has free, and what a container may take of it.

use std::path::{Path, PathBuf};

use incrowd::{Error, ErrorKind, Result};

use crate::sentences::hint;

/// What the system could give us without swapping; everything where it does not say.
pub fn free_memory() -> u64 {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let of_machine = read(Path::new("/proc/meminfo")).and_then(|text| available(&text));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let of_container = folders_of(&groups).into_iter().filter_map(|folder| left_in(&folder, &read)).min();
    of_machine.into_iter().chain(of_container).min().unwrap_or(u64::MAX)
}

/// `4GB` as bytes.
pub fn parse_memory(text: &str) -> Result<u64> {
    let lower = text.trim().to_lowercase();
    let (digits, unit) = lower.split_at(lower.find(|c: char| c.is_alphabetic()).unwrap_or(lower.len()));
    let factor = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        _ => f64::NAN,
    };
    match digits.trim().parse::<f64>().map(|number| number * factor) {
        Ok(bytes) if bytes.is_finite() && bytes > 0.0 => Ok(bytes as u64),
        _ => {
            Err(Error::new(ErrorKind::Request, format!("'{text}' is not a size"))
                .hint(hint("for example {memory=4GB}")))
        }
    }
}

/// `MemAvailable` of `/proc/meminfo`.
fn available(info: &str) -> Option<u64> {
    let available = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(available.trim().trim_end_matches(" kB").parse::<u64>().ok()?.saturating_mul(1024))
}

/// Where the limits of this process are written: its own control group and all that it is in. Inside a container the
/// own one is usually shown as the root.
fn folders_of(groups: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            controllers if controllers.split(',').any(|name| name == "memory") => Path::new("/sys/fs/cgroup/memory"),
            _ => continue,
        };
        let own = root.join(path.trim_start_matches('/'));
        folders.extend(own.ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_path_buf));
    }
    folders
}

/// What a control group may still take: its limit less what is in use and cannot be given back.
fn left_in(folder: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let number = |name: &str| read(&folder.join(name))?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes")).unwrap_or(0);
    let stat = read(&folder.join("memory.stat")).unwrap_or_default();
    // Pages of files that nobody has touched for a while are the first to go.
    let spare = ["inactive_file ", "total_inactive_file "]
        .iter()
        .find_map(|name| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()))
        .unwrap_or(0);
    // Where there is no limit, the first version writes a number beyond all memory.
    (limit < 1 << 60).then(|| limit.saturating_sub(used.saturating_sub(spare)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn what_the_machine_has() {
        assert_eq!(available("MemTotal: 10 kB\nMemAvailable:    4 kB\n"), Some(4096));
        assert_eq!(available("MemTotal: 10 kB\n"), None);
        assert!(free_memory() > 0);
    }

    /// The limit of a container counts, not what the machine has, and neither does what it could give back.
    #[test]
    fn what_a_container_may_take() {
        let files = |entries: &[(&str, &str)]| -> HashMap<PathBuf, String> {
            entries.iter().map(|(path, text)| (PathBuf::from(path), text.to_string())).collect()
        };
        let left = |groups: &str, entries: &[(&str, &str)]| {
            let files = files(entries);
            folders_of(groups).iter().filter_map(|folder| left_in(folder, &|path| files.get(path).cloned())).min()
        };
        let second = [
            ("/sys/fs/cgroup/box/memory.max", "1000\n"),
            ("/sys/fs/cgroup/box/memory.current", "700\n"),
            ("/sys/fs/cgroup/box/memory.stat", "anon 100\ninactive_file 200\n"),
            ("/sys/fs/cgroup/box/inner/memory.max", "max\n"),
        ];
        assert_eq!(left("0::/box/inner\n", &second), Some(500));
        assert_eq!(left("0::/elsewhere\n", &second), None);
        let first = [
            ("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "1000\n"),
            ("/sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "400\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(left("5:cpu,cpuacct:/docker\n3:memory:/docker\n", &first), Some(600));
        assert_eq!(left("3:memory:/\n", &first), None);
        assert_eq!(left("", &first), None);
    }
}
