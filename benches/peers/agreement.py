"""How near this project's logits are to llama.cpp's, token by token along the same text. See README.md beside this file."""

import argparse
import json
import pathlib
import subprocess

import numpy as np

from model import HERE, add_arguments, build, models, name_of

# What people ask, one question of each kind.
QUESTIONS = [
    "How many days are there between 3 March and 19 June of the same year?",
    "Write a Python function that gives the longest word of a sentence.",
    "A shop sells 14 lamps at 23.50 each and gives 12 % off. What does it take in?",
    "Read the file sales.csv with pandas and print the mean of the column price for each town.",
    "What is the difference between a list and a tuple in Python?",
    "Sort these names by their length: Olivia, Ben, Alexander, Zoe.",
    "My program says: TypeError: unsupported operand type(s) for +: 'int' and 'str'. What does it mean?",
    "Explain in three sentences why the sky is blue.",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--tokens", type=int, default=64, help="the most tokens of a reply")
    parser.add_argument("--weights", nargs="+", default=["stored", "blocks"], help="what `--weights` of the bench takes")
    asked = parser.parse_args()
    binary = build()
    for file in models(asked, binary):
        compare(asked, binary, file)


def compare(asked, binary, file):
    folder = asked.work / name_of(file)
    folder.mkdir(exist_ok=True)
    steps, batch = folder / "llama.f32", folder / "llama-batch.f32"
    run = lambda command, given: subprocess.run(command, input=given, check=True, stdout=subprocess.PIPE, text=True, cwd=HERE).stdout
    texts = run(["node", "logits.mjs", file, str(asked.threads), str(asked.tokens), steps, batch], json.dumps(QUESTIONS))
    rows = sum(len(text["reply"]) for text in json.loads(texts))
    print(f"\n## {name_of(file)}: {rows} tokens of {len(QUESTIONS)} replies, distances in nats: mean (greatest)\n")
    print("| engine | same top-1 as llama.cpp | its lead where not, at most | log-probability of its top-1 | of its top 10 | KL divergence |")
    print("|---|---|---|---|---|---|")
    show("llama.cpp, prompt and reply at once", read(steps, rows), read(batch, rows))
    for weights in asked.weights:
        ours = folder / f"{weights}.f32"
        run([binary, file, str(asked.threads), f"--weights={weights}", f"--keep={folder / weights}", f"--logits={ours}"], texts)
        show(f"this project, {weights}", read(steps, rows), read(ours, rows))


def read(file, rows):
    return np.fromfile(file, "<f4").reshape(rows, -1)


def log_probabilities(logits):
    logits = logits.astype(np.float64)
    logits -= logits.max()
    return logits - np.log(np.exp(logits).sum())


def show(name, theirs, ours):
    """One row: how often both find the same token likeliest, and how far their log-probabilities are apart."""
    known = min(theirs.shape[1], ours.shape[1])
    same, lead, first, ten, divergence = [], [], [], [], []
    for their, our in zip(theirs, ours):
        their, our = log_probabilities(their[:known]), log_probabilities(our[:known])
        order = np.argpartition(-their, 10)[:10]
        top, chosen = order[their[order].argmax()], our.argmax()
        same.append(top == chosen)
        lead.append(their[top] - their[chosen])
        first.append(abs(their[top] - our[top]))
        ten.append(abs(their[order] - our[order]).mean())
        divergence.append((np.exp(their) * (their - our)).sum())
    distance = lambda values: f"{np.mean(values):.4f} ({np.max(values):.3f})"
    most = f"{max(lead):.3f}" if not all(same) else "-"
    print(f"| {name} | {sum(same)} of {len(same)} | {most} | {distance(first)} | {distance(ten)} | {distance(divergence)} |", flush=True)


main()
