//! One binary that drives the built program and the library.

mod architecture;
