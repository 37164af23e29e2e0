//! What a model server is asked, as far as its parsers name it; the program keeps it beside the models themselves.

use super::Sampling;

#[derive(Clone, Copy)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
}

pub(crate) struct Message {
    pub role: Role,
    pub content: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guide {
    None,
}

pub(crate) struct Prompt<'a> {
    pub messages: &'a [Message],
    pub max_tokens: usize,
    pub sampling: &'a Sampling,
    pub guide: Guide,
}
