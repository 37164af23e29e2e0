//! The calls that are about the process: arguments, environment, clocks, random bytes, its end.

use super::abi::nth;
use super::{Call, Done, Result};
use crate::sandbox::clock;
use crate::sandbox::files::errno::Errno;
use crate::sandbox::guest::{ARGUMENTS, ENVIRONMENT, Exit};

/// Bytes that are drawn between two looks at the deadline.
const DRAWN: u32 = 256 << 10;

pub(super) fn args_get(call: &mut Call<'_>, list: u32, texts: u32) -> Done {
    put_texts(call, ARGUMENTS, list, texts)
}

pub(super) fn args_sizes_get(call: &mut Call<'_>, count: u32, bytes: u32) -> Done {
    put_sizes(call, ARGUMENTS, count, bytes)
}

pub(super) fn environ_get(call: &mut Call<'_>, list: u32, texts: u32) -> Done {
    put_texts(call, ENVIRONMENT, list, texts)
}

pub(super) fn environ_sizes_get(call: &mut Call<'_>, count: u32, bytes: u32) -> Done {
    put_sizes(call, ENVIRONMENT, count, bytes)
}

/// The texts one after the other, each with a NUL, and a list of their addresses.
fn put_texts(call: &mut Call<'_>, texts: &[&str], list: u32, at: u32) -> Done {
    let mut at = at;
    for (text, index) in texts.iter().zip(0..) {
        call.memory.write_u32(nth(list, index, 4)?, at)?;
        let len = size(text)?;
        let place = call.memory.bytes_mut(at, len)?;
        let (last, place) = place.split_last_mut().ok_or(Errno::Fault)?;
        place.copy_from_slice(text.as_bytes());
        *last = 0;
        at = nth(at, len, 1)?;
    }
    Ok(())
}

fn put_sizes(call: &mut Call<'_>, texts: &[&str], count: u32, bytes: u32) -> Done {
    let mut total = 0;
    for text in texts {
        total = nth(total, size(text)?, 1)?;
    }
    call.memory.write_u32(count, u32::try_from(texts.len()).map_err(|_| Errno::Overflow)?)?;
    Ok(call.memory.write_u32(bytes, total)?)
}

/// With its NUL.
fn size(text: &str) -> Result<u32, Errno> {
    u32::try_from(text.len() + 1).map_err(|_| Errno::Overflow)
}

/// # Errors
/// BADF for the processor's time, which is not told; INVAL for what preview 1 does not know.
pub(super) fn clock_res_get(call: &mut Call<'_>, id: u32, resolution: u32) -> Done {
    match id {
        0 | 1 => Ok(call.memory.write_u64(resolution, clock::RESOLUTION)?),
        2 | 3 => Err(Errno::Badf.into()),
        _ => Err(Errno::Inval.into()),
    }
}

/// # Errors
/// As [`clock_res_get`].
pub(super) fn clock_time_get(call: &mut Call<'_>, id: u32, _precision: u64, time: u32) -> Done {
    let now = match id {
        0 => call.now(),
        1 => call.guest.world.clock.monotonic(call.left),
        2 | 3 => return Err(Errno::Badf.into()),
        _ => return Err(Errno::Inval.into()),
    };
    Ok(call.memory.write_u64(time, now)?)
}

/// A byte takes as long as an operator, so each costs one.
pub(super) fn random_get(call: &mut Call<'_>, at: u32, len: u32) -> Done {
    for piece in call.memory.bytes_mut(at, len)?.chunks_mut(DRAWN as usize) {
        call.guest.world.entropy.fill(piece).map_err(|_| Errno::Io)?;
        call.cost = call.cost.saturating_add(piece.len() as u64);
        if piece.len() == DRAWN as usize {
            call.guest.watch.check()?;
        }
    }
    Ok(())
}

pub(super) fn sched_yield(_: &mut Call<'_>) -> Done {
    Ok(())
}

/// Ends the interpreter. Every code is taken.
pub(super) fn proc_exit(code: i32) -> Result<()> {
    Err(Exit(code).into())
}
