//! What is asked for: one instruction and how to go about it.

use crate::model::Sampling;

/// One instruction. `Request::from("…")` takes the interpreter's own prompt and data and three attempts.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Request {
    pub instruction: String,
    /// Attempts in all, the first one included; 1 to 100, default 3.
    pub max_retries: usize,
    /// Replaces the interpreter's system prompt.
    pub system_prompt: Option<String>,
    /// Data put before the instruction and bound to the variable `user_input`; replaces the interpreter's.
    pub user_input: Option<String>,
    pub sampling: Sampling,
    /// Tokens of one reply. Default 512.
    pub max_tokens: usize,
}

impl Request {
    pub fn new(instruction: impl Into<String>) -> Self {
        Self {
            instruction: instruction.into(),
            max_retries: 3,
            system_prompt: None,
            user_input: None,
            sampling: Sampling::default(),
            max_tokens: 512,
        }
    }
}

impl From<&str> for Request {
    fn from(instruction: &str) -> Self {
        Self::new(instruction)
    }
}

impl From<String> for Request {
    fn from(instruction: String) -> Self {
        Self::new(instruction)
    }
}
