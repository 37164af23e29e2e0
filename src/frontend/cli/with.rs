//! The flags that add packages, for every verb that starts sessions.

use std::path::PathBuf;

use clap::Args;

use super::Context;
use crate::sandbox::{Packages, Python};
use crate::{Cancel, Config, PackageRequest, Result};

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Packages")]
pub struct With {
    /// A pure-Python package that programs can import, as pip takes it: rich, tomlkit==0.13 (repeatable)
    #[arg(long, value_name = "PACKAGE")]
    pub with: Vec<String>,

    /// A requirements file of such packages (repeatable)
    #[arg(long, value_name = "FILE")]
    pub with_requirements: Vec<PathBuf>,

    /// Where the choice of packages is written when the file is not there, and obeyed when it is
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
}

impl With {
    /// Refuses what cannot be, before any time is spent.
    pub fn request(&self) -> Result<PackageRequest> {
        let mut request = PackageRequest::new();
        for file in &self.with_requirements {
            request = request.with_requirements(file)?;
        }
        for package in &self.with {
            request = request.with(package)?;
        }
        Ok(match &self.lock {
            Some(lock) => request.lock(lock),
            None => request,
        })
    }
}

/// What was asked for, if anything, ready for sessions.
pub fn open(
    context: &Context,
    request: &PackageRequest,
    python: &Python,
    config: &Config,
    cancel: &Cancel,
) -> Result<Option<Packages>> {
    if request.is_empty() {
        return Ok(None);
    }
    let packages = Packages::open(request, python, config, &context.display.progress(), cancel)?;
    context.display.clear();
    Ok(Some(packages))
}
