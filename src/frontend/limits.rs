//! Limits as people and programs write them: units, and ceilings that no surface lets through.

use std::time::Duration;

use crate::Limits;

/// The names of [`Limits`] on every surface.
pub const NAMES: [&str; 4] = ["wall", "fuel", "memory", "output"];

pub const MIB: u64 = 1 << 20;
pub const KIB: u64 = 1 << 10;

/// The most that each limit may be.
pub struct Ceilings {
    seconds: f64,
    memory: u64,
    output: u64,
}

/// For whoever starts the program: what the mechanism itself can bear.
pub const OWNER: Ceilings = Ceilings {
    // A deadline must stay a point in time that clocks can express.
    seconds: 366.0 * 24.0 * 3600.0,
    // The guest's addresses have 32 bits.
    memory: 4 << 30,
    // Kept output lies in this process's memory.
    output: 1 << 30,
};

/// For clients of a daemon, each of whom shares this machine with the others.
pub const CLIENT: Ceilings = Ceilings { seconds: 3600.0, memory: 1 << 30, output: 16 << 20 };

impl Ceilings {
    pub fn wall(&self, seconds: f64) -> Result<Duration, String> {
        if seconds > 0.0 && seconds <= self.seconds {
            // From a very small number the standard library makes 0, which would be no time at all.
            Ok(Duration::from_secs_f64(seconds).max(Duration::from_millis(1)))
        } else {
            Err(format!("must be more than 0 and at most {} seconds", self.seconds))
        }
    }

    pub fn memory(&self, bytes: u64) -> Result<u64, String> {
        if bytes > 0 && bytes <= self.memory {
            Ok(bytes)
        } else {
            Err(format!("must be more than 0 and at most {} bytes ({} MiB)", self.memory, self.memory / MIB))
        }
    }

    pub fn output(&self, bytes: u64) -> Result<u64, String> {
        if bytes <= self.output {
            Ok(bytes)
        } else {
            Err(format!("must be at most {} bytes ({} KiB)", self.output, self.output / KIB))
        }
    }
}

/// The time that a cell may take is bounded anyway.
pub fn fuel(units: u64) -> Result<u64, String> {
    if units > 0 { Ok(units) } else { Err("must be at least 1".into()) }
}

/// Sets the limit called `name` from its JSON form, as a client may; `null` leaves the default.
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
            limits.wall = CLIENT.wall(seconds).map_err(wrong)?;
        }
        "fuel" => limits.fuel = Some(fuel(whole()?).map_err(wrong)?),
        "memory" => limits.memory = CLIENT.memory(whole()?).map_err(wrong)?,
        _ => limits.output = CLIENT.output(whole()?).map_err(wrong)?,
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
        let expected = Limits {
            wall: Duration::from_millis(2500),
            fuel: Some(9),
            memory: 64 * MIB,
            output: 7,
            ..Limits::default()
        };
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
        assert!(OWNER.wall(f64::NAN).is_err() && OWNER.wall(f64::INFINITY).is_err());
        assert_eq!(OWNER.wall(1e-12), Ok(Duration::from_millis(1)));
    }

    #[test]
    fn a_client_may_less_than_the_owner_and_is_told_how_much() {
        let mut limits = Limits::default();
        for (name, most, beyond, number) in [
            ("wall", json!(3600), json!(3600.5), "3600 seconds"),
            ("memory", json!(1u64 << 30), json!((1u64 << 30) + 1), "1073741824"),
            ("output", json!(16u64 << 20), json!((16u64 << 20) + 1), "16777216"),
        ] {
            set(&mut limits, name, &most).unwrap();
            let refusal = set(&mut limits, name, &beyond).unwrap_err();
            assert!(refusal.contains(name) && refusal.contains(number), "{refusal}");
        }
        assert_eq!(
            limits,
            Limits {
                wall: Duration::from_secs(3600),
                fuel: None,
                memory: 1 << 30,
                output: 16 << 20,
                ..Limits::default()
            }
        );
        assert!(OWNER.wall(7200.0).is_ok() && OWNER.memory(4 << 30).is_ok() && OWNER.output(1 << 30).is_ok());
        assert!(OWNER.memory((4 << 30) + 1).is_err() && OWNER.output((1 << 30) + 1).is_err());
    }
}
