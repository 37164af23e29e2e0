//! The calls on a descriptor.

use super::abi::{Buffers, fdstat, filestat, prestat};
use super::path::stamp;
use super::{Call, Done, Failure, Result};
use crate::sandbox::entropy::Entropy;
use crate::sandbox::files::errno::Errno;
use crate::sandbox::files::{Stream, Whence};
use crate::sandbox::guest::World;

/// Bytes that are moved between two looks at the deadline.
const PIECE: u32 = 1 << 20;

pub(super) fn advise(call: &mut Call<'_>, fd: u32, _offset: u64, _len: u64, advice: u32) -> Done {
    if advice > 5 {
        return Err(Errno::Inval.into());
    }
    Ok(call.files().advise(fd)?)
}

pub(super) fn close(call: &mut Call<'_>, fd: u32) -> Done {
    Ok(call.files().close(fd)?)
}

pub(super) fn renumber(call: &mut Call<'_>, from: u32, to: u32) -> Done {
    Ok(call.files().renumber(from, to)?)
}

pub(super) fn sync(call: &mut Call<'_>, fd: u32) -> Done {
    Ok(call.files().sync(fd)?)
}

pub(super) fn fdstat_get(call: &mut Call<'_>, fd: u32, stat: u32) -> Done {
    let found = call.files().fdstat(fd)?;
    Ok(call.memory.write(stat, &fdstat(&found))?)
}

pub(super) fn fdstat_set_flags(call: &mut Call<'_>, fd: u32, flags: u32) -> Done {
    let flags = u16::try_from(flags).map_err(|_| Errno::Inval)?;
    Ok(call.files().set_flags(fd, flags)?)
}

pub(super) fn filestat_get(call: &mut Call<'_>, fd: u32, stat: u32) -> Done {
    let found = call.files().stat(fd)?;
    Ok(call.memory.write(stat, &filestat(&found))?)
}

pub(super) fn filestat_set_size(call: &mut Call<'_>, fd: u32, bytes: u64) -> Done {
    let now = call.now();
    Ok(call.files().set_size(fd, bytes, now)?)
}

pub(super) fn filestat_set_times(call: &mut Call<'_>, fd: u32, accessed: u64, modified: u64, flags: u32) -> Done {
    let now = call.now();
    Ok(call.files().set_times(fd, stamp(accessed, modified, flags, now)?, now)?)
}

pub(super) fn prestat_get(call: &mut Call<'_>, fd: u32, stat: u32) -> Done {
    let name = call.files().preopen(fd)?;
    let len = u32::try_from(name.len()).map_err(|_| Errno::Overflow)?;
    Ok(call.memory.write(stat, &prestat(len))?)
}

pub(super) fn prestat_dir_name(call: &mut Call<'_>, fd: u32, at: u32, len: u32) -> Done {
    let name = call.files().preopen(fd)?;
    let into = call.memory.bytes_mut(at, len)?;
    into.get_mut(..name.len()).ok_or(Errno::Nametoolong)?.copy_from_slice(name.as_bytes());
    Ok(())
}

pub(super) fn seek(call: &mut Call<'_>, fd: u32, by: i64, whence: u32, position: u32) -> Done {
    let from = match whence {
        0 => Whence::Start,
        1 => Whence::Here,
        2 => Whence::End,
        _ => return Err(Errno::Inval.into()),
    };
    let at = call.files().seek(fd, by, from)?;
    Ok(call.memory.write_u64(position, at)?)
}

pub(super) fn tell(call: &mut Call<'_>, fd: u32, position: u32) -> Done {
    seek(call, fd, 0, 1, position)
}

pub(super) fn readdir(call: &mut Call<'_>, fd: u32, at: u32, len: u32, cookie: u64, used: u32) -> Done {
    let into = call.memory.bytes_mut(at, len)?;
    let written = call.guest.world.files.list(fd, cookie, into)?;
    call.moved(written as u64);
    // No more than `len`.
    Ok(call.memory.write_u32(used, u32::try_from(written).map_err(|_| Errno::Overflow)?)?)
}

pub(super) fn read(call: &mut Call<'_>, fd: u32, buffers: u32, count: u32, read: u32) -> Done {
    let moved = transfer(call, buffers, count, |call, at, len, _| {
        let (into, World { files, entropy, .. }) = (call.memory.bytes_mut(at, len)?, &mut call.guest.world);
        if files.is_random(fd)? { draw(entropy, into) } else { files.read(fd, into) }
    })?;
    Ok(call.memory.write_u32(read, moved)?)
}

pub(super) fn pread(call: &mut Call<'_>, fd: u32, buffers: u32, count: u32, at: u64, read: u32) -> Done {
    let moved = transfer(call, buffers, count, |call, buffer, len, moved| {
        let at = at.checked_add(moved).ok_or(Errno::Inval)?;
        let (into, World { files, entropy, .. }) = (call.memory.bytes_mut(buffer, len)?, &mut call.guest.world);
        if files.is_random(fd)? { draw(entropy, into) } else { files.read_at(fd, at, into) }
    })?;
    Ok(call.memory.write_u32(read, moved)?)
}

/// Random bytes, as a file of them gives.
fn draw(entropy: &mut Entropy, into: &mut [u8]) -> Result<usize, Errno> {
    entropy.fill(into).map_err(|_| Errno::Io)?;
    Ok(into.len())
}

pub(super) fn write(call: &mut Call<'_>, fd: u32, buffers: u32, count: u32, written: u32) -> Done {
    let now = call.now();
    let moved = transfer(call, buffers, count, |call, at, len, _| {
        let bytes = call.memory.bytes(at, len)?;
        let guest = &mut *call.guest;
        match guest.world.files.stream(fd)? {
            None => return guest.world.files.write(fd, bytes, now),
            Some(Stream::Stdout) => guest.stdout.push(bytes),
            Some(Stream::Stderr) => guest.stderr.push(bytes),
            Some(Stream::Stdin) => return Err(Errno::Badf),
        }
        Ok(bytes.len())
    })?;
    Ok(call.memory.write_u32(written, moved)?)
}

pub(super) fn pwrite(call: &mut Call<'_>, fd: u32, buffers: u32, count: u32, at: u64, written: u32) -> Done {
    let now = call.now();
    let moved = transfer(call, buffers, count, |call, buffer, len, moved| {
        let at = at.checked_add(moved).ok_or(Errno::Inval)?;
        call.guest.world.files.write_at(fd, at, call.memory.bytes(buffer, len)?, now)
    })?;
    Ok(call.memory.write_u32(written, moved)?)
}

/// Moves bytes piece by piece, each by `one`, which is given the call, the piece's address and length and how many
/// bytes were moved before, and says how many it moved. Fewer than asked for end it, as does an error, which is told
/// only when nothing was moved.
fn transfer(
    call: &mut Call<'_>,
    buffers: u32,
    count: u32,
    one: impl Fn(&mut Call<'_>, u32, u32, u64) -> Result<usize, Errno>,
) -> Result<u32, Failure> {
    let buffers = call.memory.buffers(buffers, count)?;
    let (mut moved, mut looked) = (0_u32, 0);
    for index in 0..buffers.count.max(1) {
        let (mut at, mut left) = buffer(call, buffers, index)?;
        loop {
            let piece = left.min(PIECE);
            let done = match one(call, at, piece, moved.into()) {
                Ok(done) => u32::try_from(done).map_err(|_| Errno::Overflow)?,
                Err(errno) if moved == 0 => return Err(errno.into()),
                Err(_) => return Ok(moved),
            };
            moved = moved.checked_add(done).ok_or(Errno::Inval)?;
            call.moved(done.into());
            if done < piece {
                return Ok(moved);
            }
            (at, left) = (at.wrapping_add(piece), left - piece);
            if moved - looked >= PIECE {
                looked = moved;
                call.guest.watch.check()?;
            }
            if left == 0 {
                break;
            }
        }
    }
    Ok(moved)
}

/// One of the buffers, or an empty one where there is none: the descriptor is looked at in any case.
fn buffer(call: &Call<'_>, buffers: Buffers, index: u32) -> Result<(u32, u32), Errno> {
    if buffers.count == 0 { Ok((0, 0)) } else { buffers.get(&call.memory, index) }
}

pub(super) fn sock_accept(call: &mut Call<'_>, fd: u32, _flags: u32, _accepted: u32) -> Done {
    Ok(call.files().socket(fd)?)
}

pub(super) fn sock_recv(
    call: &mut Call<'_>,
    fd: u32,
    _buffers: u32,
    _count: u32,
    _flags: u32,
    _received: u32,
    _got: u32,
) -> Done {
    Ok(call.files().socket(fd)?)
}

pub(super) fn sock_send(call: &mut Call<'_>, fd: u32, _buffers: u32, _count: u32, _flags: u32, _sent: u32) -> Done {
    Ok(call.files().socket(fd)?)
}

pub(super) fn sock_shutdown(call: &mut Call<'_>, fd: u32, _how: u32) -> Done {
    Ok(call.files().socket(fd)?)
}
