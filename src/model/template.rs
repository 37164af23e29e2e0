//! A model's own chat template, rendered as transformers does, within bounds: templates come with model files.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error as JinjaError, ErrorKind, Value, context};

use super::{Message, Role};
use crate::{Error, Result};

/// minijinja's fuel bounds time and, at about 64 bytes a unit, memory. A conversation of 30 messages takes some
/// thousand units and one for every 64 bytes of text.
const FUEL: u64 = 2_000_000;
const MAX_TEMPLATE: usize = 256 << 10;
const NAME: &str = "chat";

pub(crate) struct ChatTemplate {
    environment: Environment<'static>,
    bos_token: String,
    eos_token: String,
}

impl ChatTemplate {
    pub fn new(source: &str, bos_token: &str, eos_token: &str) -> Result<Self> {
        if source.len() > MAX_TEMPLATE {
            return Err(Error::model(format!(
                "the model's chat template has {} bytes, more than {MAX_TEMPLATE}",
                source.len()
            )));
        }
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(unusable)?;
        environment.set_syntax(syntax);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |why: String| -> Result<Value, JinjaError> {
            Err(JinjaError::new(ErrorKind::InvalidOperation, why))
        });
        environment.add_template_owned(NAME, source.to_owned()).map_err(unusable)?;
        Ok(Self { environment, bos_token: bos_token.into(), eos_token: eos_token.into() })
    }

    /// The conversation as text, up to where the assistant's next reply begins.
    pub fn render(&self, messages: &[Message]) -> Result<String> {
        let messages: Vec<Value> = messages
            .iter()
            .map(|message| context! { role => role(message.role), content => message.content.as_str() })
            .collect();
        let given = context! {
            messages,
            add_generation_prompt => true,
            bos_token => self.bos_token.as_str(),
            eos_token => self.eos_token.as_str(),
        };
        self.environment.get_template(NAME).and_then(|template| template.render(given)).map_err(unusable)
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn unusable(error: JinjaError) -> Error {
    Error::model(error).context("the model's chat template cannot be used")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(role: Role, content: &str) -> Message {
        Message { role, content: content.into() }
    }

    #[test]
    fn blocks_leave_no_lines_behind() {
        let source = "{% for m in messages %}\n  {% if m.role == 'user' %}\n[{{ m['content'].strip() }}]\n  {% endif %}\n{% endfor %}\n{{ eos_token }}{% if add_generation_prompt %}>{% endif %}";
        let template = ChatTemplate::new(source, "<s>", "</s>").unwrap();
        let text = template.render(&[say(Role::System, "x"), say(Role::User, " hi ")]).unwrap();
        assert_eq!(text, "[hi]\n</s>>");
    }

    #[test]
    fn endless_and_greedy_templates_end() {
        for source in [
            "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
            "{% set ns = namespace(x='xxxxxxxxxxxxxxxx') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            "{{ 'x' * 100000000000 }}",
        ] {
            let template = ChatTemplate::new(source, "", "").unwrap();
            let error = template.render(&[say(Role::User, "hi")]).unwrap_err();
            assert!(error.is_model() && error.to_string().contains("chat template"), "{source}: {error}");
        }
    }

    #[test]
    fn what_a_template_refuses_is_told() {
        let template = ChatTemplate::new("{{ raise_exception('no system role') }}", "", "").unwrap();
        assert!(template.render(&[]).unwrap_err().to_string().contains("no system role"));
        assert!(ChatTemplate::new("{% if %}", "", "").err().unwrap().is_model());
        assert!(ChatTemplate::new(&"x".repeat(MAX_TEMPLATE + 1), "", "").is_err());
    }
}
