//! WASI preview 1, `host.call` and the refill of the counter: all that the image imports, and so all that a guest can ask of the host.
//!
//! Every call ends within a few milliseconds or looks at the cell's deadline and cancel handle while it works, and
//! allocates nothing in proportion to a number of the guest's. Where fuel is the only time limit, calls that move bytes
//! are paid for in fuel. The calls on files only move arguments between the
//! guest's memory (`abi`) and [`Files`], which does the work.

mod abi;
mod fd;
mod host;
mod path;
mod poll;
mod process;

use abi::Memory;
use wasmtime::{Caller, Engine, Linker};

use super::files::Files;
use super::files::errno::Errno;
use super::guest::{Guest, Stop};
use super::metering;

type Result<T, E = wasmtime::Error> = std::result::Result<T, E>;

/// A call that is under way.
struct Call<'a> {
    memory: Memory<'a>,
    guest: &'a mut Guest,
    /// The fuel that is left, where the clock depends on it.
    left: u64,
    /// What the call's work is worth, in operators. One takes about as long as moving 8 bytes.
    cost: u64,
}

/// Bytes whose move is worth one operator.
const MOVED: u64 = 8;

impl Call<'_> {
    /// Nanoseconds since the Unix epoch.
    fn now(&self) -> u64 {
        self.guest.world.clock.wall(self.left)
    }

    /// So many bytes were moved.
    fn moved(&mut self, bytes: u64) {
        self.cost = self.cost.saturating_add(bytes / MOVED);
    }

    fn files(&mut self) -> &mut Files {
        &mut self.guest.world.files
    }
}

/// Why a call did not succeed.
enum Failure {
    /// The guest is told.
    Errno(Errno),
    /// The cell ends here.
    Stop(Stop),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

type Done = Result<(), Failure>;

/// Defines each function of preview 1 by the one here that answers it.
macro_rules! preview1 {
    ($linker:ident: $($name:literal = $room:ident::$function:ident($($argument:ident: $kind:ty),*);)*) => {
        $($linker.func_wrap(
            "wasi_snapshot_preview1",
            $name,
            |caller: Caller<'_, Guest>, $($argument: $kind),*| {
                answer(caller, |call| $room::$function(call, $($argument),*))
            },
        )?;)*
    };
}

/// Everything that the image may import.
pub(super) fn linker(engine: &Engine) -> Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    preview1! { linker:
        "args_get" = process::args_get(list: u32, texts: u32);
        "args_sizes_get" = process::args_sizes_get(count: u32, bytes: u32);
        "environ_get" = process::environ_get(list: u32, texts: u32);
        "environ_sizes_get" = process::environ_sizes_get(count: u32, bytes: u32);
        "clock_res_get" = process::clock_res_get(id: u32, resolution: u32);
        "clock_time_get" = process::clock_time_get(id: u32, precision: u64, time: u32);
        "random_get" = process::random_get(at: u32, len: u32);
        "sched_yield" = process::sched_yield();
        "poll_oneoff" = poll::poll_oneoff(input: u32, output: u32, count: u32, count_out: u32);

        "fd_advise" = fd::advise(fd: u32, offset: u64, len: u64, advice: u32);
        "fd_close" = fd::close(fd: u32);
        "fd_datasync" = fd::sync(fd: u32);
        "fd_fdstat_get" = fd::fdstat_get(fd: u32, stat: u32);
        "fd_fdstat_set_flags" = fd::fdstat_set_flags(fd: u32, flags: u32);
        "fd_filestat_get" = fd::filestat_get(fd: u32, stat: u32);
        "fd_filestat_set_size" = fd::filestat_set_size(fd: u32, bytes: u64);
        "fd_filestat_set_times" = fd::filestat_set_times(fd: u32, accessed: u64, modified: u64, flags: u32);
        "fd_pread" = fd::pread(fd: u32, buffers: u32, count: u32, at: u64, read: u32);
        "fd_prestat_dir_name" = fd::prestat_dir_name(fd: u32, at: u32, len: u32);
        "fd_prestat_get" = fd::prestat_get(fd: u32, stat: u32);
        "fd_pwrite" = fd::pwrite(fd: u32, buffers: u32, count: u32, at: u64, written: u32);
        "fd_read" = fd::read(fd: u32, buffers: u32, count: u32, read: u32);
        "fd_readdir" = fd::readdir(fd: u32, at: u32, len: u32, cookie: u64, used: u32);
        "fd_renumber" = fd::renumber(from: u32, to: u32);
        "fd_seek" = fd::seek(fd: u32, by: i64, whence: u32, position: u32);
        "fd_sync" = fd::sync(fd: u32);
        "fd_tell" = fd::tell(fd: u32, position: u32);
        "fd_write" = fd::write(fd: u32, buffers: u32, count: u32, written: u32);

        "path_create_directory" = path::create_directory(fd: u32, path: u32, len: u32);
        "path_filestat_get" = path::filestat_get(fd: u32, follow: u32, path: u32, len: u32, stat: u32);
        "path_filestat_set_times" = path::filestat_set_times(
            fd: u32, follow: u32, path: u32, len: u32, accessed: u64, modified: u64, flags: u32
        );
        "path_link" = path::link(old_fd: u32, follow: u32, old: u32, old_len: u32, fd: u32, path: u32, len: u32);
        "path_open" = path::open(
            fd: u32, follow: u32, path: u32, len: u32, how: u32, rights: u64, inheriting: u64, flags: u32, opened: u32
        );
        "path_readlink" = path::readlink(fd: u32, path: u32, len: u32, at: u32, room: u32, used: u32);
        "path_remove_directory" = path::remove_directory(fd: u32, path: u32, len: u32);
        "path_rename" = path::rename(old_fd: u32, old: u32, old_len: u32, fd: u32, path: u32, len: u32);
        "path_symlink" = path::symlink(target: u32, target_len: u32, fd: u32, path: u32, len: u32);
        "path_unlink_file" = path::unlink_file(fd: u32, path: u32, len: u32);

        "sock_accept" = fd::sock_accept(fd: u32, flags: u32, accepted: u32);
        "sock_recv" = fd::sock_recv(fd: u32, buffers: u32, count: u32, flags: u32, received: u32, got: u32);
        "sock_send" = fd::sock_send(fd: u32, buffers: u32, count: u32, flags: u32, sent: u32);
        "sock_shutdown" = fd::sock_shutdown(fd: u32, how: u32);
    }
    linker.func_wrap("wasi_snapshot_preview1", "proc_exit", process::proc_exit)?;
    linker.func_wrap("host", "call", host::call)?;
    Ok(linker)
}

/// Answers one call with preview 1's code for how it went, or ends the cell.
fn answer(caller: Caller<'_, Guest>, work: impl FnOnce(&mut Call<'_>) -> Done) -> Result<i32> {
    match with_call(caller, work)? {
        Ok(()) => Ok(0),
        Err(Failure::Errno(errno)) => Ok(errno.code().into()),
        Err(Failure::Stop(stop)) => Err(stop.into()),
    }
}

fn with_call<T>(mut caller: Caller<'_, Guest>, work: impl FnOnce(&mut Call<'_>) -> T) -> Result<T> {
    let left = if caller.data().world.clock.is_counted() { metering::left(&mut caller)? } else { 0 };
    let memory = caller.data().memory.ok_or_else(|| wasmtime::Error::msg("a call before the interpreter was there"))?;
    let (bytes, guest) = memory.data_and_store_mut(&mut caller);
    let mut call = Call { memory: Memory(bytes), guest, left, cost: 0 };
    let done = work(&mut call);
    let cost = call.cost;
    if cost > 0 && caller.data().world.clock.is_bounded() {
        let cost = caller.data().world.clock.units(cost);
        metering::charge(&mut caller, cost)?;
    }
    Ok(done)
}

#[cfg(test)]
mod tests;
