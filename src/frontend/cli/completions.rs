//! `completions`: a script for the shell, on stdout.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Context, NAME, exit};
use crate::Result;

/// Print a completion script for a shell, to be put where that shell looks for them
#[derive(Debug, Args)]
pub struct Completions {
    shell: Shell,
}

impl Completions {
    pub fn execute(self, context: &Context) -> Result<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), NAME, &mut script);
        context.console.print(&String::from_utf8_lossy(&script));
        Ok(exit::OK)
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_gets_a_script_that_knows_the_verbs() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), NAME, &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in ["run", "exec", "serve", "setup", "packages", "timeout"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
        assert_eq!(Shell::value_variants().len(), 5);
    }
}
