//! `poll_oneoff`, which is also how a guest sleeps: until its time, the cell's deadline or a cancel, whichever is first.

use std::time::Duration;

use super::abi::{event, nth};
use super::{Call, Done};
use crate::sandbox::files::errno::Errno;

/// Subscriptions one call may hold; a program that polls has a handful.
const MAX_SUBSCRIPTIONS: u32 = 1024;

/// One entry of the input, as preview 1 lays it out in 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Subscription {
    userdata: u64,
    /// 0 for a clock, 1 and 2 for a descriptor to read or write.
    tag: u8,
    /// Nanoseconds until it is ready. Files and our streams always are.
    wait: u64,
}

impl Subscription {
    const SIZE: u32 = 48;

    /// `now` are the times of day and of the monotonic clock. `None` for what preview 1 does not know.
    fn parse(bytes: &[u8; Self::SIZE as usize], now: [u64; 2]) -> Option<Self> {
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let (userdata, tag) = (u64_at(0), bytes[8]);
        let wait = match tag {
            0 => {
                let (clock, timeout, absolute) = (bytes[16], u64_at(24), bytes[40] & 1 == 1);
                if absolute { timeout.saturating_sub(*now.get(usize::from(clock))?) } else { timeout }
            }
            1 | 2 => 0,
            _ => return None,
        };
        Some(Self { userdata, tag, wait })
    }
}

/// Only a call that waits for nothing but clocks sleeps.
pub(super) fn poll_oneoff(call: &mut Call<'_>, input: u32, output: u32, count: u32, count_out: u32) -> Done {
    if count == 0 || count > MAX_SUBSCRIPTIONS {
        return Err(Errno::Inval.into());
    }
    let now = [call.now(), call.guest.world.clock.monotonic(call.left)];
    let mut subscriptions = Vec::with_capacity(count as usize);
    for index in 0..count {
        let bytes = call.memory.read(nth(input, index, Subscription::SIZE)?)?;
        subscriptions.push(Subscription::parse(&bytes, now).ok_or(Errno::Inval)?);
    }
    let shortest = subscriptions.iter().map(|subscription| subscription.wait).min().unwrap_or_default();
    sleep(call, shortest)?;

    let mut written = 0;
    for ready in subscriptions.iter().filter(|subscription| subscription.wait <= shortest) {
        call.memory.write(nth(output, written, 32)?, &event(ready.userdata, ready.tag))?;
        written += 1;
    }
    Ok(call.memory.write_u32(count_out, written)?)
}

/// In virtual time a sleep is over at once.
fn sleep(call: &mut Call<'_>, duration: u64) -> Done {
    let guest = &mut *call.guest;
    if duration == 0 {
        return Ok(());
    }
    if guest.world.clock.is_counted() {
        guest.world.clock.skip(duration);
        return Ok(guest.watch.check()?);
    }
    Ok(guest.watch.sleep(Duration::from_nanos(duration))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(id: u8, timeout: u64, absolute: u8) -> [u8; 48] {
        let mut bytes = [0; 48];
        bytes[..8].copy_from_slice(&9_u64.to_le_bytes());
        (bytes[16], bytes[40]) = (id, absolute);
        bytes[24..32].copy_from_slice(&timeout.to_le_bytes());
        bytes
    }

    #[test]
    fn a_subscription_is_ready_after_its_time() {
        let wait = |bytes: [u8; 48]| Subscription::parse(&bytes, [1_000, 100]).map(|subscription| subscription.wait);
        assert_eq!(wait(clock(0, 50, 0)), Some(50));
        assert_eq!(wait(clock(1, 50, 0)), Some(50));
        assert_eq!(wait(clock(0, 1_500, 1)), Some(500));
        assert_eq!(wait(clock(1, 1_500, 1)), Some(1_400));
        assert_eq!(wait(clock(1, 50, 1)), Some(0), "its time has passed");
        assert_eq!(wait(clock(2, 50, 1)), None);
        let mut bytes = clock(0, 50, 0);
        bytes[8] = 1;
        assert_eq!(Subscription::parse(&bytes, [0, 0]), Some(Subscription { userdata: 9, tag: 1, wait: 0 }));
        bytes[8] = 3;
        assert_eq!(wait(bytes), None);
    }
}
