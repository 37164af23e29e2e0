//! The calls that name a file by a path. There are no links, so whether to follow them makes no difference.

use super::{Call, Done, Result};
use crate::sandbox::files::errno::Errno;
use crate::sandbox::files::rights::{READ, WRITE};
use crate::sandbox::files::{KNOWN_FLAGS, OpenHow, Stamp};

use super::abi::filestat;

/// Preview 1's `oflags`.
const CREATE: u32 = 1;
const FOLDER: u32 = 2;
const EXCLUSIVE: u32 = 4;
const TRUNCATE: u32 = 8;

pub(super) fn create_directory(call: &mut Call<'_>, fd: u32, path: u32, len: u32) -> Done {
    let now = call.now();
    Ok(call.guest.world.files.create_folder(fd, call.memory.path(path, len)?, now)?)
}

pub(super) fn filestat_get(call: &mut Call<'_>, fd: u32, _follow: u32, path: u32, len: u32, stat: u32) -> Done {
    let found = call.guest.world.files.stat_at(fd, call.memory.path(path, len)?)?;
    Ok(call.memory.write(stat, &filestat(&found))?)
}

#[expect(clippy::too_many_arguments, reason = "as many as preview 1 gives it")]
pub(super) fn filestat_set_times(
    call: &mut Call<'_>,
    fd: u32,
    _follow: u32,
    path: u32,
    len: u32,
    accessed: u64,
    modified: u64,
    flags: u32,
) -> Done {
    let now = call.now();
    let to = stamp(accessed, modified, flags, now)?;
    Ok(call.guest.world.files.set_times_at(fd, call.memory.path(path, len)?, to, now)?)
}

#[expect(clippy::too_many_arguments, reason = "as many as preview 1 gives it")]
pub(super) fn link(
    call: &mut Call<'_>,
    old_fd: u32,
    _follow: u32,
    old: u32,
    old_len: u32,
    fd: u32,
    path: u32,
    len: u32,
) -> Done {
    let (old, path) = (call.memory.path(old, old_len)?, call.memory.path(path, len)?);
    Ok(call.guest.world.files.link((old_fd, old), (fd, path))?)
}

#[expect(clippy::too_many_arguments, reason = "as many as preview 1 gives it")]
pub(super) fn open(
    call: &mut Call<'_>,
    fd: u32,
    _follow: u32,
    path: u32,
    len: u32,
    how: u32,
    rights: u64,
    _inheriting: u64,
    flags: u32,
    opened: u32,
) -> Done {
    if how & !(CREATE | FOLDER | EXCLUSIVE | TRUNCATE) != 0 || flags & !u32::from(KNOWN_FLAGS) != 0 {
        return Err(Errno::Inval.into());
    }
    let now = call.now();
    let how = OpenHow {
        create: how & CREATE != 0,
        folder: how & FOLDER != 0,
        exclusive: how & EXCLUSIVE != 0,
        truncate: how & TRUNCATE != 0,
        read: rights & READ != 0,
        write: rights & WRITE != 0,
        flags: u16::try_from(flags).map_err(|_| Errno::Inval)?,
    };
    // Written to before and after, so that a bad address costs no descriptor.
    call.memory.write_u32(opened, 0)?;
    let fd = call.guest.world.files.open(fd, call.memory.path(path, len)?, how, now)?;
    Ok(call.memory.write_u32(opened, fd)?)
}

pub(super) fn readlink(call: &mut Call<'_>, fd: u32, path: u32, len: u32, _at: u32, _room: u32, _used: u32) -> Done {
    Ok(call.guest.world.files.read_link(fd, call.memory.path(path, len)?)?)
}

pub(super) fn remove_directory(call: &mut Call<'_>, fd: u32, path: u32, len: u32) -> Done {
    let now = call.now();
    Ok(call.guest.world.files.remove_folder(fd, call.memory.path(path, len)?, now)?)
}

pub(super) fn rename(call: &mut Call<'_>, old_fd: u32, old: u32, old_len: u32, fd: u32, path: u32, len: u32) -> Done {
    let now = call.now();
    let (old, path) = (call.memory.path(old, old_len)?, call.memory.path(path, len)?);
    Ok(call.guest.world.files.rename((old_fd, old), (fd, path), now)?)
}

pub(super) fn symlink(call: &mut Call<'_>, target: u32, target_len: u32, fd: u32, path: u32, len: u32) -> Done {
    call.memory.path(target, target_len)?;
    Ok(call.guest.world.files.symlink(fd, call.memory.path(path, len)?)?)
}

pub(super) fn unlink_file(call: &mut Call<'_>, fd: u32, path: u32, len: u32) -> Done {
    let now = call.now();
    Ok(call.guest.world.files.unlink(fd, call.memory.path(path, len)?, now)?)
}

/// What preview 1's `fstflags` make of two times: each is left, set, or becomes now.
///
/// # Errors
/// INVAL for both at once.
pub(super) fn stamp(accessed: u64, modified: u64, flags: u32, now: u64) -> Result<Stamp, Errno> {
    let one = |time, flags| match flags & 3 {
        0 => Ok(None),
        1 => Ok(Some(time)),
        2 => Ok(Some(now)),
        _ => Err(Errno::Inval),
    };
    if flags >> 4 != 0 {
        return Err(Errno::Inval);
    }
    Ok(Stamp { accessed: one(accessed, flags)?, modified: one(modified, flags >> 2)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_left_set_or_now() {
        let times = |flags| stamp(5, 6, flags, 9).map(|stamp| (stamp.accessed, stamp.modified));
        assert_eq!(times(0), Ok((None, None)));
        assert_eq!(times(0b0101), Ok((Some(5), Some(6))));
        assert_eq!(times(0b1010), Ok((Some(9), Some(9))));
        assert_eq!(times(0b0001), Ok((Some(5), None)));
        for flags in [0b0011, 0b1100, 0b1_0000, u32::MAX] {
            assert_eq!(times(flags), Err(Errno::Inval), "{flags:b}");
        }
    }
}
