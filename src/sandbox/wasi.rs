//! The host's side of what the image imports, where WASI's own does not suit a sandbox.
//!
//! `poll_oneoff` is our own: a sleep ends at the cell's deadline or at a cancel, which epochs cannot do while the guest
//! is inside a host call. `proc_exit` takes every code. `host.call` takes the driver's frames.

use std::time::Duration;

use wasmtime::{Caller, Engine, Linker};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, I32Exit, p1};

use super::guest::{Clock, Guest};

type Result<T, E = wasmtime::Error> = std::result::Result<T, E>;

/// Everything the image imports. A later definition shadows an earlier one, so ours stand where they are needed.
pub(super) fn linker(engine: &Engine) -> Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    linker.allow_shadowing(true);
    p1::add_to_linker_sync(&mut linker, |guest: &mut Guest| &mut guest.wasi)?;
    linker.func_wrap("wasi_snapshot_preview1", "poll_oneoff", poll_oneoff)?;
    // The one of wasmtime-wasi takes codes from 126 on for an error of the program.
    linker.func_wrap("wasi_snapshot_preview1", "proc_exit", |code: i32| -> Result<()> { Err(I32Exit(code).into()) })?;
    linker.func_wrap("host", "call", host_call)?;
    Ok(linker)
}

const ERRNO_SUCCESS: i32 = 0;
const ERRNO_INVAL: i32 = 28;
const ERRNO_FAULT: i32 = 21;

/// Subscriptions one call may hold; a program that polls has a handful.
const MAX_SUBSCRIPTIONS: u32 = 1024;

/// One entry of `poll_oneoff`'s input, as preview 1 lays it out in 48 bytes.
enum Subscription {
    Clock { userdata: u64, wait: Duration },
    Descriptor { userdata: u64, tag: u8 },
}

impl Subscription {
    const SIZE: usize = 48;

    /// `None` for a tag that preview 1 does not know.
    fn parse(bytes: &[u8; Self::SIZE], clock: Clock) -> Option<Self> {
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let userdata = u64_at(0);
        match bytes[8] {
            0 => {
                let (monotonic, timeout, absolute) = (bytes[16] != 0, u64_at(24), bytes[40] & 1 == 1);
                let now = if monotonic {
                    Duration::from_nanos(HostMonotonicClock::now(&clock))
                } else {
                    HostWallClock::now(&clock)
                };
                let timeout = Duration::from_nanos(timeout);
                Some(Self::Clock { userdata, wait: if absolute { timeout.saturating_sub(now) } else { timeout } })
            }
            tag @ (1 | 2) => Some(Self::Descriptor { userdata, tag }),
            _ => None,
        }
    }
}

/// Files and our streams are always ready, so only a call that waits for nothing but clocks sleeps.
fn poll_oneoff(mut caller: Caller<'_, Guest>, input: u32, output: u32, count: u32, count_out: u32) -> Result<i32> {
    if count == 0 || count > MAX_SUBSCRIPTIONS {
        return Ok(ERRNO_INVAL);
    }
    let memory = memory(&mut caller)?;
    let clock = caller.data().clock;
    let mut subscriptions = Vec::with_capacity(count as usize);
    for index in 0..count as usize {
        let mut bytes = [0; Subscription::SIZE];
        if memory.read(&caller, input as usize + index * Subscription::SIZE, &mut bytes).is_err() {
            return Ok(ERRNO_FAULT);
        }
        match Subscription::parse(&bytes, clock) {
            Some(subscription) => subscriptions.push(subscription),
            None => return Ok(ERRNO_INVAL),
        }
    }

    let waits = |subscription: &Subscription| match subscription {
        Subscription::Clock { wait, .. } => *wait,
        Subscription::Descriptor { .. } => Duration::ZERO,
    };
    let shortest = subscriptions.iter().map(waits).min().unwrap_or_default();
    if !shortest.is_zero() {
        caller.data().watch.sleep(shortest)?;
    }

    let mut written = 0_u32;
    for subscription in subscriptions.iter().filter(|subscription| waits(subscription) <= shortest) {
        let (userdata, tag) = match subscription {
            Subscription::Clock { userdata, .. } => (*userdata, 0),
            Subscription::Descriptor { userdata, tag } => (*userdata, *tag),
        };
        let mut event = [0_u8; 32];
        event[..8].copy_from_slice(&userdata.to_le_bytes());
        event[10] = tag;
        event[16] = 1;
        if memory.write(&mut caller, output as usize + written as usize * event.len(), &event).is_err() {
            return Ok(ERRNO_FAULT);
        }
        written += 1;
    }
    match memory.write(&mut caller, count_out as usize, &written.to_le_bytes()) {
        Ok(()) => Ok(ERRNO_SUCCESS),
        Err(_) => Ok(ERRNO_FAULT),
    }
}

/// `host.call`'s own codes: answered, and refused.
const ANSWERED: i32 = 0;
const FAULT: i32 = -2;

/// Takes a frame. It is measured before it is read, and the answer is always empty.
fn host_call(mut caller: Caller<'_, Guest>, frame: u32, len: u32, answer: u32, answer_len: u32) -> Result<i32> {
    let memory = memory(&mut caller)?;
    if len as usize > caller.data().inbox.longest() {
        return Ok(FAULT);
    }
    let (bytes, guest) = memory.data_and_store_mut(&mut caller);
    let Some(frame) = bytes.get(frame as usize..frame as usize + len as usize) else { return Ok(FAULT) };
    if guest.inbox.receive(frame).is_err() {
        return Ok(FAULT);
    }
    for at in [answer, answer_len] {
        if memory.write(&mut caller, at as usize, &[0; 4]).is_err() {
            return Ok(FAULT);
        }
    }
    Ok(ANSWERED)
}

fn memory(caller: &mut Caller<'_, Guest>) -> Result<wasmtime::Memory> {
    let export = caller.get_export("memory").and_then(wasmtime::Extern::into_memory);
    export.ok_or_else(|| wasmtime::Error::msg("the image exports no memory"))
}
