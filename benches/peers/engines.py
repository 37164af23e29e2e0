"""One engine on one model: engines.py genai FOLDER | transformers FILE.gguf, THREADS PROMPT REPLY ROUNDS. Prints JSON."""

import json
import resource
import statistics
import sys
import time

kind, path = sys.argv[1:3]
threads, prompt, reply, rounds = map(int, sys.argv[3:7])
ids = [20 + index * 7919 % 40000 for index in range(prompt)]


def genai():
    import numpy as np
    import onnxruntime_genai as og

    config = og.Config(path)
    config.clear_providers()
    model = og.Model(config)

    def round_():
        parameters = og.GeneratorParams(model)
        parameters.set_search_options(max_length=prompt + reply + 2, min_length=prompt + reply + 1, do_sample=False)
        generator = og.Generator(model, parameters)
        start = time.perf_counter()
        generator.append_tokens(np.array(ids, np.int32))
        generator.generate_next_token()
        first = time.perf_counter()
        for _ in range(reply):
            generator.generate_next_token()
        return first - start, time.perf_counter() - first

    return round_


def transformers():
    import pathlib

    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(threads)
    file = pathlib.Path(path)
    model = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name, dtype=torch.float32)

    @torch.inference_mode()
    def round_():
        start = time.perf_counter()
        out = model(torch.tensor([ids]), use_cache=True, logits_to_keep=1)
        first = time.perf_counter()
        for _ in range(reply):
            out = model(out.logits[:, -1:].argmax(-1), past_key_values=out.past_key_values, use_cache=True)
        return first - start, time.perf_counter() - first

    return round_


start = time.perf_counter()
round_ = {"genai": genai, "transformers": transformers}[kind]()
load = time.perf_counter() - start
round_()
times = [round_() for _ in range(rounds)]
first = statistics.median(first for first, _ in times)
print(json.dumps({
    "load_ms": load * 1e3, "prefill_tokens_s": prompt / first, "first_token_ms": first * 1e3,
    "decode_tokens_s": reply / statistics.median(rest for _, rest in times),
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
}))
