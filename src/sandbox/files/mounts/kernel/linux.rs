//! What the kernel shows of itself as files, as in `/proc` and `/sys`. Nobody means that when a folder is mounted: reading
//! it can wait for ever and tells of the machine and of this process, writing changes them.

use std::os::fd::AsFd;

/// The file systems of the kernel's own, by the numbers that `statfs` gives.
const KERNELS: [i64; 17] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6265_6570, // configfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0xcafe_4a11, // bpf
    0xde5e_81e4, // efivarfs
    0x6165_676c, // pstore
    0x6573_5543, // fusectl
    0x4249_4e4d, // binfmt_misc
    0x1cd1,      // devpts
    0x1980_0202, // mqueue
];

/// Whether something that is open is of that kind. What cannot be told is.
pub(super) fn shows(opened: impl AsFd) -> bool {
    rustix::fs::fstatfs(opened).map_or(true, |found| KERNELS.contains(&i64::from(found.f_type as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_the_kernels_and_a_disk_is_not() {
        assert!(shows(std::fs::File::open("/proc/self/status").unwrap()));
        assert!(!shows(std::fs::File::open(env!("CARGO_MANIFEST_DIR")).unwrap()));
    }
}
