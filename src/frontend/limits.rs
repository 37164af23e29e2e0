//! Limits as people and programs write them: units, and ceilings that no surface lets through.

use std::time::Duration;

use crate::Limits;

/// The names of [`Limits`] on every surface.
pub const NAMES: [&str; 4] = ["wall", "fuel", "memory", "output"];

pub const MIB: u64 = 1 << 20;
pub const KIB: u64 = 1 << 10;

/// A deadline must stay a point in time that clocks can express.
const MOST_SECONDS: f64 = 366.0 * 24.0 * 3600.0;
/// The guest's addresses have 32 bits.
const MOST_MEMORY: u64 = 4 << 30;
/// Kept output lies in this process's memory.
const MOST_OUTPUT: u64 = 1 << 30;

pub fn wall(seconds: f64) -> Result<Duration, String> {
    if seconds > 0.0 && seconds <= MOST_SECONDS {
        // From a very small number the standard library makes 0, which would be no time at all.
        Ok(Duration::from_secs_f64(seconds).max(Duration::from_millis(1)))
    } else {
        Err(format!("must be more than 0 and at most {MOST_SECONDS} seconds"))
    }
}

pub fn fuel(units: u64) -> Result<u64, String> {
    if units > 0 { Ok(units) } else { Err("must be at least 1".into()) }
}

pub fn memory(bytes: u64) -> Result<u64, String> {
    if bytes > 0 && bytes <= MOST_MEMORY {
        Ok(bytes)
    } else {
        Err(format!("must be more than 0 and at most {} MiB (the guest's addresses have 32 bits)", MOST_MEMORY / MIB))
    }
}

pub fn output(bytes: u64) -> Result<u64, String> {
    if bytes <= MOST_OUTPUT { Ok(bytes) } else { Err(format!("must be at most {} KiB", MOST_OUTPUT / KIB)) }
}

/// Sets the limit called `name` from its JSON form; `null` leaves the default.
pub fn set(limits: &mut Limits, name: &str, value: &serde_json::Value) -> Result<(), String> {
    let wrong = |what: String| format!("Invalid limit: '{name}' {what}");
    let whole = || value.as_u64().ok_or_else(|| wrong("must be a whole number, not negative".into()));
    if !NAMES.contains(&name) {
        return Err(format!("Unknown limit: '{name}' (known: {})", NAMES.join(", ")));
    }
    if value.is_null() {
        return Ok(());
    }
    match name {
        "wall" => {
            let seconds = value.as_f64().ok_or_else(|| wrong("must be a number of seconds".into()))?;
            limits.wall = wall(seconds).map_err(wrong)?;
        }
        "fuel" => limits.fuel = Some(fuel(whole()?).map_err(wrong)?),
        "memory" => limits.memory = memory(whole()?).map_err(wrong)?,
        _ => limits.output = output(whole()?).map_err(wrong)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_name_sets_its_own_limit() {
        let mut limits = Limits::default();
        for (name, value) in
            [("wall", json!(2.5)), ("fuel", json!(9)), ("memory", json!(64 * MIB)), ("output", json!(7))]
        {
            set(&mut limits, name, &value).unwrap();
        }
        let expected = Limits { wall: Duration::from_millis(2500), fuel: Some(9), memory: 64 * MIB, output: 7 };
        assert_eq!(limits, expected);
        for name in NAMES {
            set(&mut limits, name, &json!(null)).unwrap();
        }
        assert_eq!(limits, expected, "null changes nothing");
    }

    #[test]
    fn a_bad_limit_is_named_and_explained() {
        let refuse = |name: &str, value| set(&mut Limits::default(), name, &value).unwrap_err();
        assert_eq!(refuse("timeout", json!(1)), "Unknown limit: 'timeout' (known: wall, fuel, memory, output)");
        assert!(refuse("wall", json!("2")).starts_with("Invalid limit: 'wall' must be a number"));
        for (name, value) in [
            ("wall", json!(0)),
            ("wall", json!(-1)),
            ("wall", json!(1e18)),
            ("fuel", json!(0)),
            ("fuel", json!(1.5)),
            ("memory", json!(-1)),
            ("memory", json!(5u64 << 30)),
            ("output", json!(1u64 << 40)),
        ] {
            assert!(refuse(name, value.clone()).contains(name), "{name} {value}");
        }
    }

    #[test]
    fn no_wall_limit_is_zero_or_endless() {
        assert!(wall(f64::NAN).is_err() && wall(f64::INFINITY).is_err());
        assert_eq!(wall(1e-12), Ok(Duration::from_millis(1)));
    }
}
