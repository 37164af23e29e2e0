//! What is the same in every session and nobody's: the folders that hold nothing but the way to others, and the devices.

use super::mounts::{HostNode, Live, Source};
use super::tree::{Ino, Tree};

/// A file or folder of the namespace.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Hub(Hub),
    /// A folder that holds nothing but the way to what the session was given.
    Way(usize),
    Device(Device),
    Host(HostNode),
    /// In a folder that the session was given.
    Live(Live),
    Tree(Ino),
}

/// A folder that holds nothing but the way to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hub {
    /// `/`
    Root,
    /// `/dev`
    Dev,
    /// `/usr`
    Usr,
    /// `/usr/local`
    Local,
}

impl Hub {
    pub(super) const ALL: [Self; 4] = [Self::Root, Self::Dev, Self::Usr, Self::Local];

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Root => "/",
            Self::Dev => "/dev",
            Self::Usr => "/usr",
            Self::Local => "/usr/local",
        }
    }

    /// The folder that holds it; `/` holds itself.
    pub(super) fn parent(self) -> Self {
        match self {
            Self::Root | Self::Dev | Self::Usr => Self::Root,
            Self::Local => Self::Usr,
        }
    }

    /// Sorted by name.
    pub(super) fn list(self) -> &'static [(&'static str, Place)] {
        const ROOT: &[(&str, Place)] = &[
            ("dev", Place::Hub(Hub::Dev)),
            ("tmp", Place::Tree(Tree::TMP)),
            ("usr", Place::Hub(Hub::Usr)),
            ("work", Place::Tree(Tree::WORK)),
        ];
        const DEV: &[(&str, Place)] = &[
            ("null", Place::Device(Device::Null)),
            ("random", Place::Device(Device::Random)),
            ("urandom", Place::Device(Device::Urandom)),
        ];
        const USR: &[(&str, Place)] = &[("local", Place::Hub(Hub::Local))];
        const LOCAL: &[(&str, Place)] = &[("lib", Place::Host(HostNode::root(Source::Lib)))];
        match self {
            Self::Root => ROOT,
            Self::Dev => DEV,
            Self::Usr => USR,
            Self::Local => LOCAL,
        }
    }
}

/// A file that holds nothing: every write to it succeeds and leaves no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Device {
    /// At its end from the start.
    Null,
    /// Random bytes without end.
    Random,
    /// The same; there are two names for it.
    Urandom,
}

impl Device {
    pub(super) const ALL: [Self; 3] = [Self::Null, Self::Random, Self::Urandom];

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Null => "/dev/null",
            Self::Random => "/dev/random",
            Self::Urandom => "/dev/urandom",
        }
    }

    pub(super) fn is_random(self) -> bool {
        self != Self::Null
    }
}
