//! Limits as people and programs write them: units, and ceilings that no surface lets through.
//!
//! `wall` is seconds with fractions and stands apart; all others are whole numbers, and one table says what they are.

use std::time::Duration;

use crate::Limits;

pub const MIB: u64 = 1 << 20;
pub const KIB: u64 = 1 << 10;

/// For whom a limit is checked.
#[derive(Clone, Copy)]
pub enum Asker {
    /// Whoever starts the program: what the mechanism itself can bear.
    Owner,
    /// A client of a daemon, each of whom shares this machine with the others.
    Client,
}

impl Asker {
    /// The longest wall limit, in seconds. A deadline must stay a point in time that clocks can express.
    fn seconds(self) -> f64 {
        match self {
            Self::Owner => 366.0 * 24.0 * 3600.0,
            Self::Client => 3600.0,
        }
    }
}

/// What a limit counts, and in what its flag counts it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Each,
    Kibibytes,
    Mebibytes,
}

impl Unit {
    fn size(self) -> u64 {
        match self {
            Self::Each => 1,
            Self::Kibibytes => KIB,
            Self::Mebibytes => MIB,
        }
    }
}

/// A limit that is a whole number.
struct Whole {
    /// As it is called on every surface.
    name: &'static str,
    unit: Unit,
    least: u64,
    /// The most for the owner and for a client; `u64::MAX` is no ceiling.
    most: [u64; 2],
    set: fn(Limits, u64) -> Limits,
}

/// All but `wall`, in the order in which they are told. Every kept or stored byte lies in this process's memory.
const WHOLE: [Whole; 9] = [
    // The time that a cell may take is bounded anyway.
    row("fuel", Unit::Each, 1, [u64::MAX, u64::MAX], |limits, units| limits.fuel(units)),
    // The guest's addresses have 32 bits.
    row("memory", Unit::Mebibytes, 1, [4 << 30, 1 << 30], Limits::memory),
    row("output", Unit::Kibibytes, 0, [1 << 30, 16 << 20], Limits::output),
    row("scratch", Unit::Mebibytes, 0, [4 << 30, 256 << 20], Limits::scratch),
    row("entries", Unit::Each, 0, [100_000, 10_000], Limits::entries),
    row("depth", Unit::Each, 0, [256, 64], Limits::depth),
    // Without one Python could not even import from its library.
    row("open_files", Unit::Each, 1, [1_000, 256], Limits::open_files),
    row("display", Unit::Mebibytes, 0, [64 << 20, 16 << 20], Limits::display),
    row("displays", Unit::Mebibytes, 0, [256 << 20, 64 << 20], Limits::displays),
];

const fn row(name: &'static str, unit: Unit, least: u64, most: [u64; 2], set: fn(Limits, u64) -> Limits) -> Whole {
    Whole { name, unit, least, most, set }
}

impl Whole {
    fn named(name: &str) -> Option<&'static Self> {
        WHOLE.iter().find(|limit| limit.name == name)
    }

    fn check(&self, value: u64, asker: Asker) -> Result<u64, String> {
        let most = self.most[asker as usize];
        if (self.least..=most).contains(&value) {
            return Ok(value);
        }
        let told = match self.unit {
            Unit::Each if most == u64::MAX => return Err(format!("must be at least {}", self.least)),
            Unit::Each => most.to_string(),
            Unit::Kibibytes => format!("{most} bytes ({} KiB)", most / KIB),
            Unit::Mebibytes => format!("{most} bytes ({} MiB)", most / MIB),
        };
        let least = if self.least > 0 { "more than 0 and " } else { "" };
        Err(format!("must be {least}at most {told}"))
    }
}

/// A wall limit of so many seconds.
pub fn wall(seconds: f64, asker: Asker) -> Result<Duration, String> {
    if seconds > 0.0 && seconds <= asker.seconds() {
        // From a very small number the standard library makes 0, which would be no time at all.
        Ok(Duration::from_secs_f64(seconds).max(Duration::from_millis(1)))
    } else {
        Err(format!("must be more than 0 and at most {} seconds", asker.seconds()))
    }
}

/// The value of the limit called `name` as the owner writes it after its flag, in the flag's unit.
pub fn flag(name: &str, text: &str) -> Result<u64, String> {
    let limit = Whole::named(name).ok_or_else(|| format!("no limit is called {name}"))?;
    let number: u64 = text.parse().map_err(|_| NOT_WHOLE.to_owned())?;
    limit.check(number.checked_mul(limit.unit.size()).ok_or("is too large")?, Asker::Owner)
}

const NOT_WHOLE: &str = "must be a whole number, not negative";

/// Sets the limit called `name` from its JSON form, as a client may; `null` leaves the default.
pub fn set(limits: &mut Limits, name: &str, value: &serde_json::Value) -> Result<(), String> {
    let wrong = |what: String| format!("Invalid limit: '{name}' {what}");
    let limit = Whole::named(name);
    if limit.is_none() && name != "wall" {
        let known: Vec<_> = std::iter::once("wall").chain(WHOLE.iter().map(|limit| limit.name)).collect();
        return Err(format!("Unknown limit: '{name}' (known: {})", known.join(", ")));
    }
    if value.is_null() {
        return Ok(());
    }
    let Some(limit) = limit else {
        let seconds = value.as_f64().ok_or_else(|| wrong("must be a number of seconds".into()))?;
        limits.wall = wall(seconds, Asker::Client).map_err(wrong)?;
        return Ok(());
    };
    let number = value.as_u64().ok_or_else(|| wrong(NOT_WHOLE.into()))?;
    *limits = (limit.set)(limits.clone(), limit.check(number, Asker::Client).map_err(wrong)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn set_all(values: &[(&str, Value)]) -> Limits {
        let mut limits = Limits::default();
        for (name, value) in values {
            set(&mut limits, name, value).unwrap();
        }
        limits
    }

    #[test]
    fn every_name_sets_its_own_limit() {
        let values = [
            ("wall", json!(2.5)),
            ("fuel", json!(9)),
            ("memory", json!(64 * MIB)),
            ("output", json!(7)),
            ("scratch", json!(8)),
            ("entries", json!(10)),
            ("depth", json!(11)),
            ("open_files", json!(12)),
            ("display", json!(13)),
            ("displays", json!(14)),
        ];
        let limits = set_all(&values);
        let expected = Limits {
            wall: Duration::from_millis(2500),
            fuel: Some(9),
            memory: 64 * MIB,
            output: 7,
            scratch: 8,
            entries: 10,
            depth: 11,
            open_files: 12,
            display: 13,
            displays: 14,
        };
        assert_eq!(limits, expected);
        let mut same = limits;
        for (name, _) in values {
            set(&mut same, name, &json!(null)).unwrap();
        }
        assert_eq!(same, expected, "null changes nothing");
    }

    #[test]
    fn a_bad_limit_is_named_and_explained() {
        let refuse = |name: &str, value| set(&mut Limits::default(), name, &value).unwrap_err();
        assert_eq!(
            refuse("timeout", json!(1)),
            "Unknown limit: 'timeout' (known: wall, fuel, memory, output, scratch, entries, depth, open_files, display, \
             displays)"
        );
        assert!(refuse("wall", json!("2")).starts_with("Invalid limit: 'wall' must be a number"));
        for (name, value) in [
            ("wall", json!(0)),
            ("wall", json!(-1)),
            ("wall", json!(1e18)),
            ("fuel", json!(0)),
            ("fuel", json!(1.5)),
            ("memory", json!(0)),
            ("memory", json!(-1)),
            ("memory", json!(5u64 << 30)),
            ("output", json!(1u64 << 40)),
            ("scratch", json!("64")),
            ("entries", json!(2.0)),
            ("depth", json!(-1)),
            ("open_files", json!(0)),
            ("display", json!([])),
            ("displays", json!(true)),
        ] {
            let refusal = refuse(name, value.clone());
            assert!(refusal.starts_with(&format!("Invalid limit: '{name}' must be ")), "{value}: {refusal}");
        }
    }

    #[test]
    fn no_wall_limit_is_zero_or_endless() {
        assert!(wall(f64::NAN, Asker::Owner).is_err() && wall(f64::INFINITY, Asker::Owner).is_err());
        assert_eq!(wall(1e-12, Asker::Owner), Ok(Duration::from_millis(1)));
    }

    #[test]
    fn a_client_may_less_than_the_owner_and_is_told_how_much() {
        let mut limits = Limits::default();
        for (name, most, number) in [
            ("memory", 1_u64 << 30, "1073741824 bytes (1024 MiB)"),
            ("output", 16 << 20, "16777216 bytes (16384 KiB)"),
            ("scratch", 256 << 20, "268435456 bytes (256 MiB)"),
            ("entries", 10_000, "10000"),
            ("depth", 64, "64"),
            ("open_files", 256, "256"),
            ("display", 16 << 20, "16777216 bytes (16 MiB)"),
            ("displays", 64 << 20, "67108864 bytes (64 MiB)"),
        ] {
            set(&mut limits, name, &json!(most)).unwrap();
            let refusal = set(&mut limits, name, &json!(most + 1)).unwrap_err();
            assert!(refusal.contains(name) && refusal.ends_with(&format!("at most {number}")), "{refusal}");
            let limit = Whole::named(name).unwrap();
            assert_eq!(limit.check(most + 1, Asker::Owner), Ok(most + 1), "{name}");
        }
        set(&mut limits, "wall", &json!(3600)).unwrap();
        assert!(set(&mut limits, "wall", &json!(3600.5)).unwrap_err().contains("3600 seconds"));
        assert!(wall(7200.0, Asker::Owner).is_ok());
        assert_eq!((limits.wall.as_secs(), limits.memory, limits.displays), (3600, 1 << 30, 64 << 20));
    }

    #[test]
    fn a_flag_counts_in_its_unit_and_has_the_owners_ceiling() {
        for (name, most, bytes) in [
            ("memory", 4096, 4_u64 << 30),
            ("output", 1 << 20, 1 << 30),
            ("scratch", 4096, 4 << 30),
            ("entries", 100_000, 100_000),
            ("depth", 256, 256),
            ("open_files", 1_000, 1_000),
            ("display", 64, 64 << 20),
            ("displays", 256, 256 << 20),
        ] {
            assert_eq!(flag(name, &most.to_string()), Ok(bytes), "{name}");
            for wrong in [&(most + 1).to_string(), "1.5", "-1", "", "x", "99999999999999999999", "18446744073709551615"]
            {
                assert!(flag(name, wrong).is_err(), "{name} {wrong}");
            }
        }
        assert_eq!(flag("fuel", "18446744073709551615"), Ok(u64::MAX));
        assert_eq!(flag("scratch", "0"), Ok(0));
        assert_eq!(flag("open_files", "0").unwrap_err(), "must be more than 0 and at most 1000");
        assert_eq!(flag("depth", "1.5").unwrap_err(), NOT_WHOLE);
    }
}
