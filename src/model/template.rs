//! A model's own chat template, rendered as transformers does, within bounds: templates come with model files.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error as JinjaError, ErrorKind, Value, context};

use super::{Message, Role};
use crate::{Error, Result};

/// minijinja's fuel bounds time and, at about 64 bytes a unit, memory. A conversation of 30 messages takes some
/// thousand units and one for every 64 bytes of text.
const FUEL: u64 = 2_000_000;
/// Bytes of a template that are read.
pub(super) const MAX_TEMPLATE: usize = 256 << 10;
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
    ///
    /// Some templates refuse a system message; then the first user says it.
    pub fn render(&self, messages: &[Message]) -> Result<String> {
        let refused = match (self.attempt(messages), messages) {
            (Err(refused), [system, user, ..]) if (system.role, user.role) == (Role::System, Role::User) => refused,
            (rendered, _) => return rendered.map_err(unusable),
        };
        let content = format!("{}\n\n{}", messages[0].content, messages[1].content);
        let mut merged = messages[1..].to_vec();
        merged[0].content = content;
        self.attempt(&merged).map_err(|_| unusable(refused))
    }

    fn attempt(&self, messages: &[Message]) -> Result<String, JinjaError> {
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
        self.environment.get_template(NAME).and_then(|template| template.render(given))
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

    /// What the templates of Qwen2.5 and Qwen3 are made of.
    #[test]
    fn templates_of_common_models_are_understood() {
        let qwen_25 = r#"{%- if tools %}
    {{- '<|im_start|>system\n# Tools' }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>system\nYou are helpful.<|im_end|>\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
"#;
        let template = ChatTemplate::new(qwen_25, "", "<|im_end|>").unwrap();
        let turns = [say(Role::User, "a"), say(Role::Assistant, "b"), say(Role::User, "c")];
        let expected = "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n";
        let system = "<|im_start|>system\nYou are helpful.<|im_end|>\n";
        assert_eq!(template.render(&turns).unwrap(), format!("{system}{expected}"));

        let qwen_3 = r#"{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content if message.content is string else '' %}
    {%- if message.role == "assistant" and message.reasoning_content is not string and '</think>' in content %}
        {%- set content = content.split('</think>')[-1].lstrip('\n') %}
    {%- endif %}
    {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}
"#;
        let template = ChatTemplate::new(qwen_3, "", "<|im_end|>").unwrap();
        let turns = [say(Role::User, "a"), say(Role::Assistant, "<think>\n?</think>\n\nb"), say(Role::User, "c")];
        assert_eq!(template.render(&turns).unwrap(), expected);
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
    fn a_system_message_that_is_refused_is_said_by_the_user() {
        let source = "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
        let template = ChatTemplate::new(source, "<bos>", "").unwrap();
        let turns = [say(Role::System, "be brief"), say(Role::User, "hi"), say(Role::Assistant, "yes")];
        assert_eq!(template.render(&turns).unwrap(), "<bos><user>be brief\n\nhi<assistant>yes");
        assert!(template.render(&turns[..1]).unwrap_err().to_string().contains("System role not supported"));
    }

    #[test]
    fn what_a_template_refuses_is_told() {
        let template = ChatTemplate::new("{{ raise_exception('no system role') }}", "", "").unwrap();
        assert!(template.render(&[]).unwrap_err().to_string().contains("no system role"));
        assert!(ChatTemplate::new("{% if %}", "", "").err().unwrap().is_model());
        assert!(ChatTemplate::new(&"x".repeat(MAX_TEMPLATE + 1), "", "").is_err());
    }
}
