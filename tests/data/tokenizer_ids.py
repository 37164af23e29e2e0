"""Writes tokenizer_ids.json: llama.cpp's own tokenizer on the embedded model's GGUF, control tokens not parsed.

    pip install llama-cpp-python && python tokenizer_ids.py SmolLM2-135M-Instruct.Q4_1.gguf > tokenizer_ids.json
"""

import json
import sys

from llama_cpp import Llama

TEXTS = [
    "", " ", "  ", "\n", "\n\n", "\t", "\r\n", " \n ", "a", " a", "a ", "hello world", "Hello, World!",
    "   leading", "trailing   ", "in   the    middle", "tabs\t\tand\tspaces \t mixed", "\n\n\nthree lines\n\n", "x\n    y\n        z\n",
    "1", "12", "1234567890", "3.14159", "1,000,000", "v1.2.3-rc4", "0xFF 0b101 1e-9", "date: 2024-05-17T12:34:56Z", "a1b2c3", "١٢٣", "½ ² Ⅷ",
    "def f(x):\n    return x ** 2\n\nprint(f(10))\n",
    "import pandas as pd\n\ndf = pd.read_csv('data.csv')\nprint(df.groupby(['a', 'b'])[\"c\"].sum())\n",
    "for i in range(10):\n\tif i % 2 == 0:\n\t\tprint(f\"{i:>5}\")\n",
    "class A:\n    \"\"\"Doc.\"\"\"\n\n    def __init__(self, *args, **kwargs):\n        self._x = {k: v for k, v in kwargs.items()}\n",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\": \"b\"}}", "SELECT * FROM t WHERE x >= 40000;", "#include <stdio.h>\nint main(void) { return 0; }",
    "it's don't we'll I'm you've they're he'd IT'S", "O'Brien's 'quoted' \"text\"", "a_b-c.d/e\\f|g&h", "!!! ??? ... --- ***", "<html><body>&amp;</body></html>",
    "```python\nprint(1)\n```", "https://example.org/a?b=c&d=%20#e", "user@example.org", "naïve café Ünïcödé", "Straße ẞ ﬁ", "Ελληνικά", "Русский текст", "עברית العربية", "हिन्दी",
    "中文字符测试", "日本語のテキスト", "한국어", "ไทย", "🙂", "🙂🙂 👍🏽 👨‍👩‍👧‍👦 🇩🇪", "emoji in🙂the middle", "e\u0301 combining", "zero\u200bwidth \ufeffbom", "non\u00a0breaking \u2003em \u3000wide",
    "\u2028line\u2029paragraph", "math ∑∫√∞ ≤≥≠", "control \x01\x02\x7f", "\x00nul", "\U00010348 \U0001d4d0", "\ufffd replacement",
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_start|>system\nYou<|im_end|>\n", "a<|im_end|>b", "<|im_end", "|im_end|>", "<|im_<|im_end|>end|>", "<repo_name>x<file_sep>",
    "<jupyter_code>", "<s></s>", "[INST] x [/INST]", "<0x0A>", "Ġ", "Ċ", "▁", "word" * 50, "ab " * 40, " " * 37 + "x", "\n" * 21, "é" * 30, "9" * 31,
]

llama = Llama(model_path=sys.argv[1], vocab_only=True, verbose=False)
cases = [{"text": text, "ids": llama.tokenize(text.encode(), add_bos=False, special=False)} for text in TEXTS]
print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")
