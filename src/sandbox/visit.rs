//! One visit to an interpreter, on a thread with room for it: the state is kept, an interpreter made if none is live,
//! what it must know told, and one call made. All of it in one hand-over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::budget::MemoryCap;
use super::guest::{Guest, World};
use super::image::Image;
use super::instance::{End, Instance, Turn};
use super::options::Told;
use super::snapshot::literal;
use super::state::{Interpreter, Machine};
use crate::{Cancel, Error, Limits, Result};

/// What our own part of a start may take; it needs well under a millisecond.
pub(super) const START: Duration = Duration::from_secs(10);

/// What a session consists of between two cells, besides names and counters.
pub(super) enum Body {
    Live(Box<Instance>),
    /// No interpreter is live: the next one starts from here.
    Resting {
        interpreter: Interpreter,
        world: World,
    },
}

impl Body {
    /// Files, clock and random source.
    pub(super) fn world(&self) -> &World {
        match self {
            Self::Live(instance) => instance.world(),
            Self::Resting { world, .. } => world,
        }
    }

    pub(super) fn world_mut(&mut self) -> &mut World {
        match self {
            Self::Live(instance) => instance.world_mut(),
            Self::Resting { world, .. } => world,
        }
    }

    /// Whether a cell has entered the interpreter that is live, or that the next one starts from.
    pub(super) fn has_run(&self) -> bool {
        matches!(self, Self::Live(_) | Self::Resting { interpreter: Interpreter::Kept(_), .. })
    }
}

/// What a visitor brings.
pub(super) struct Visit {
    pub(super) image: Arc<Image>,
    pub(super) body: Body,
    /// The state of before the last cell, whose pages are brought up to date to be that of before this call; `None`
    /// within where there is none. `None`: nothing is kept.
    pub(super) keep: Option<Interpreter>,
    pub(super) limits: Limits,
    pub(super) told: Told,
    pub(super) wall: Duration,
    pub(super) fuel: Option<u64>,
    pub(super) cancel: Cancel,
    /// What a fresh interpreter is told, as JSON. One that has run needs none.
    pub(super) start: Option<String>,
    /// Texts that one that has run is still to be told, as JSON.
    pub(super) bind: Option<String>,
    pub(super) code: String,
}

/// What came of it.
pub(super) struct Visited {
    /// The state of before the call.
    pub(super) interpreter: Interpreter,
    pub(super) world: World,
    /// An error is the sandbox's own, and the interpreter is gone.
    pub(super) result: Result<Called>,
}

pub(super) struct Called {
    pub(super) turn: Turn,
    /// `None`: it died.
    pub(super) instance: Option<Box<Instance>>,
    pub(super) memory_bytes: u64,
}

impl Visit {
    pub(super) fn make(mut self) -> Visited {
        let interpreter = self.kept();
        let world = self.body.world().clone();
        let result = self.call();
        Visited { interpreter, world, result }
    }

    fn kept(&mut self) -> Interpreter {
        let told = self.told.clone();
        match (&mut self.body, self.keep.take()) {
            (Body::Live(instance), Some(earlier)) => {
                let machine = instance.keep(&self.image.finder, earlier.into_pages(), told);
                machine.map_or(Interpreter::Lost, |machine| Interpreter::keep(machine, self.image.budget.charge()))
            }
            (Body::Live(_), None) => Interpreter::Lost,
            (Body::Resting { interpreter, .. }, _) => interpreter.clone(),
        }
    }

    fn call(self) -> Result<Called> {
        let Self { image, body, limits, told, wall, mut fuel, cancel, start, bind, code, .. } = self;
        let mut calls = Vec::new();
        let mut packages_differ = false;
        let mut instance = match body {
            Body::Live(instance) => instance,
            Body::Resting { interpreter, world } => {
                let ready = match interpreter {
                    Interpreter::Fresh | Interpreter::Lost if !world.clock.is_counted() => image.stock.take(),
                    _ => None,
                };
                let mut instance = match ready {
                    Some(mut instance) => {
                        instance.hand_over(world, &limits);
                        Box::new(instance)
                    }
                    None => {
                        let memory = MemoryCap::new(limits.memory, image.budget.charge());
                        let instance = Instance::new(&image.pre, Guest::new(world, memory, &limits))?;
                        instance.show_fresh(&image.finder);
                        Box::new(instance)
                    }
                };
                match interpreter {
                    Interpreter::Kept(kept) => {
                        instance.resume(&kept.machine)?;
                        let Machine { displays, packages, .. } = &kept.machine;
                        if *displays != told.displays || *packages != told.packages {
                            packages_differ = *packages != told.packages;
                            calls.push(("bound", Value::Object(told.settings()).to_string()));
                        }
                    }
                    // Nothing of the guest's has run, so the limits of a cell need not cover it.
                    Interpreter::Fresh | Interpreter::Lost => {
                        let start = start.unwrap_or_else(|| "{}".to_owned());
                        let turn =
                            instance.turn(&driver("start", &start), START, None, &Cancel::new(), &image.watcher)?;
                        prepared(&turn, start.len())?;
                    }
                }
                instance
            }
        };
        calls.extend(bind.map(|texts| ("bind", texts)));
        let began = Instant::now();
        // These run what cells may have changed, so they are part of the cell in all that is limited.
        for (function, settings) in calls {
            let left = wall.saturating_sub(began.elapsed());
            let turn = instance.turn(&driver(function, &settings), left, fuel, &cancel, &image.watcher)?;
            fuel = fuel.map(|fuel| fuel.saturating_sub(turn.fuel));
            match turn.end {
                End::Returned(0) => {}
                // The host's own bound on displays holds whatever the driver thinks of it.
                End::Returned(_) if function == "bound" && !packages_differ => {
                    log::debug!("the driver did not take its bounds")
                }
                _ => prepared(&turn, settings.len())?,
            }
        }
        let turn = instance.turn(&code, wall.saturating_sub(began.elapsed()), fuel, &cancel, &image.watcher)?;
        let memory_bytes = instance.memory_bytes();
        let instance = turn.end.is_alive().then_some(instance);
        Ok(Called { turn, instance, memory_bytes })
    }
}

/// The line of Python that calls one of the driver's functions with a JSON text.
pub(super) fn driver(function: &str, settings: &str) -> String {
    format!("__import__('_slm_cell').{function}({})", literal(settings))
}

/// What it means when an interpreter could not be told what it must know.
fn prepared(turn: &Turn, length: usize) -> Result<()> {
    match &turn.end {
        End::Returned(0) => Ok(()),
        End::Cancelled => Err(Error::cancelled()),
        End::Memory => Err(Error::usage(format_args!(
            "{length} bytes of arguments and texts do not fit into the memory that the session may use"
        ))
        .advise("allow more memory")),
        End::Returned(_) | End::Timeout | End::Fuel => Err(Error::usage(
            "the session's interpreter did not take its packages or the texts for its variables: its cells have changed it",
        )
        .advise("rewind the session, or start another")),
        end => Err(Error::internal(format_args!("{end:?}: {}", turn.stderr.text)).context("preparing a session")),
    }
}
