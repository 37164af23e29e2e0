//! What a model server is asked, as far as its parsers name it; the program keeps it beside the models themselves.

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

pub(crate) struct Sampling {
    pub temperature: f32,
    pub top_p: f32,
    pub seed: u64,
}

pub(crate) struct Prompt<'a> {
    pub messages: &'a [Message],
    pub max_tokens: usize,
    pub sampling: &'a Sampling,
}
