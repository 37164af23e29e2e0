//! `host.call`: the driver's frames.

use wasmtime::Caller;

use super::{Call, Result, with_call};
use crate::sandbox::guest::Guest;

/// `host.call`'s own codes: answered, and refused.
const ANSWERED: i32 = 0;
const REFUSED: i32 = -2;

/// Takes a frame. It is measured before it is read, and the answer is always empty.
pub(super) fn call(caller: Caller<'_, Guest>, frame: u32, len: u32, answer: u32, answer_len: u32) -> Result<i32> {
    with_call(caller, |call| if take(call, frame, len, answer, answer_len).is_some() { ANSWERED } else { REFUSED })
}

pub(super) fn take(call: &mut Call<'_>, frame: u32, len: u32, answer: u32, answer_len: u32) -> Option<()> {
    if len as usize > call.guest.inbox.longest() {
        return None;
    }
    call.moved(len.into());
    call.guest.inbox.receive(call.memory.bytes(frame, len).ok()?).ok()?;
    call.memory.write_u32(answer, 0).ok()?;
    call.memory.write_u32(answer_len, 0).ok()
}
