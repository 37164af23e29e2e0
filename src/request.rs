//! What is asked for: one instruction and how to go about it.

use crate::model::{Guide, Sampling};

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
    /// What the model's replies are held to. Default: nothing.
    pub guide: Guide,
}

impl Request {
    /// The most that [`max_retries`](Self::max_retries) may be: more attempts than any model makes use of.
    pub const MOST_RETRIES: usize = 100;

    /// The interpreter's own prompt and data, three attempts.
    pub fn new(instruction: impl Into<String>) -> Self {
        Self {
            instruction: instruction.into(),
            max_retries: 3,
            system_prompt: None,
            user_input: None,
            sampling: Sampling::default(),
            max_tokens: 512,
            guide: Guide::None,
        }
    }

    /// This request with so many attempts in all.
    pub fn max_retries(self, attempts: usize) -> Self {
        Self { max_retries: attempts, ..self }
    }

    /// This request with a system prompt of its own; an empty one leaves the system turn out.
    pub fn system_prompt(self, prompt: impl Into<String>) -> Self {
        Self { system_prompt: Some(prompt.into()), ..self }
    }

    /// This request with data of its own, bound to the variable `user_input`.
    pub fn user_input(self, data: impl Into<String>) -> Self {
        Self { user_input: Some(data.into()), ..self }
    }

    /// This request with another way to draw tokens.
    pub fn sampling(self, sampling: Sampling) -> Self {
        Self { sampling, ..self }
    }

    /// This request with so many tokens to a reply at most.
    pub fn max_tokens(self, tokens: usize) -> Self {
        Self { max_tokens: tokens, ..self }
    }

    /// This request with a grammar for the model's replies.
    pub fn guide(self, guide: Guide) -> Self {
        Self { guide, ..self }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_set_by_its_own_name() {
        let sampling = Sampling { seed: 5, ..Sampling::default() };
        let request = Request::new("do")
            .max_retries(1)
            .system_prompt("be brief")
            .user_input("a,b")
            .sampling(sampling.clone())
            .max_tokens(9)
            .guide(Guide::Fence);
        assert_eq!((request.instruction.as_str(), request.max_retries, request.max_tokens), ("do", 1, 9));
        assert_eq!(request.system_prompt.as_deref(), Some("be brief"));
        assert_eq!(request.user_input.as_deref(), Some("a,b"));
        assert_eq!((request.sampling, request.guide), (sampling, Guide::Fence));
    }
}
