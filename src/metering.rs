//! How running programs are counted and interrupted: a word that configuration, sandbox and outcomes share.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// How running programs are counted and interrupted. Each has an interpreter image of its own, built when it is first used.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Metering {
    /// A counter of ours that goes down where loops go back and where calls could come back to themselves. Faster, and a
    /// program is stopped within milliseconds.
    #[default]
    Loops,
    /// Wasmtime's fuel, which counts operators, and its epochs: the reference.
    Wasmtime,
}

impl Metering {
    pub const ALL: [Self; 2] = [Self::Loops, Self::Wasmtime];

    /// As it is written in flags, in the configuration and in outcomes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loops => "loops",
            Self::Wasmtime => "wasmtime",
        }
    }

    /// What one unit of fuel is, in the plural.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Loops => "counts",
            Self::Wasmtime => "operators",
        }
    }

    /// What a unit of fuel takes of a deterministic session's time, in nanoseconds: about what it takes of the machine's.
    pub(crate) const fn nanoseconds(self) -> u64 {
        match self {
            Self::Loops => 5,
            Self::Wasmtime => 1,
        }
    }
}

impl fmt::Display for Metering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metering {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|metering| metering.name() == text)
            .ok_or_else(|| Error::usage(format_args!("{text:?} is no metering: there are loops and wasmtime")))
    }
}
