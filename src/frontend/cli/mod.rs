//! The command line.

pub fn main() -> std::process::ExitCode {
    todo!()
}
