#!/usr/bin/env python3
"""Looks for neighbours under filters of every selectivity and kind: recall, hits, and whether the way was the best.

See ../README.md. A filter lets some part of the documents through, taken at random, around a vector near the one that is asked
for, or around one that is far away. `explain --what-if` runs each way, and compares what it finds with what comparing all
vectors finds. A cell is right if 0.95 of the ten nearest are found in the mean, and as many as there are each time.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

import numpy as np

from compare import distances, read, write

PARTS = [0.1, 0.3, 1, 3, 10, 30, 50, 80, 100]
KINDS = ["random", "near", "far"]
K = 10
# A vector nearer to the queried one than this part of all is near, and one farther than that is far.
NEAR, FAR = 0.0005, 0.9
RECALL, WITHIN = 0.95, 1.2


def place(order):
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def columns(base, queries, metric):
    """Numbers of each document, by which filters let those of the lowest through."""
    random = np.random.default_rng(7)
    yield "random", random.permutation(len(base))
    for nth, query in enumerate(queries):
        order = np.argsort(distances(metric, base, query), kind="stable")
        for kind, part in [("near", NEAR), ("far", FAR)]:
            centre = base[order[int(part * len(base))]]
            yield f"{kind}_{nth}", place(np.argsort(distances(metric, base, centre), kind="stable"))


def index(tool, folder, base, queries, metric):
    path = lambda name: os.path.join(folder, name)
    named = list(columns(base, queries, metric))
    with open(path("schema.toml"), "w") as schema:
        for name, _ in named:
            schema.write(f'[fields.{name}]\ntype = "u64"\nstored = false\n')
        schema.write(f'[fields.v]\ntype = "vector"\ndims = {base.shape[1]}\nmetric = "{metric}"\n')
    with open(path("docs.jsonl"), "w") as docs:
        for doc in range(len(base)):
            docs.write(json.dumps({name: int(places[doc]) for name, places in named}) + "\n")
    write(path("base.fvecs"), base, np.float32)
    for nth, query in enumerate(queries):
        with open(path(f"{nth}.json"), "w") as file:
            json.dump([float(number) for number in query], file)
    command = [tool, "index", path("cells"), path("docs.jsonl"), "--schema", path("schema.toml"), "--quiet"]
    subprocess.run(command + ["--vectors", "v=" + path("base.fvecs")], check=True)
    return path


def node_of(node):
    if node["operator"] == "Nearest":
        return node
    return next(filter(None, map(node_of, node["children"])), None)


def ask(tool, path, query, nth):
    """Hits, recall, way, and the times of all ways."""
    command = [tool, "explain", path("cells"), query, "--knn", f"v=@{path(f'{nth}.json')}:{K}"]
    command += ["--limit", str(K), "--what-if", "--format", "json"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    node = node_of(json.loads(run.stdout)["plan"])
    hits = node["actual"]["documents"]
    found = [it for it in node["decisions"] if it.get("recall")]
    if not found:
        return hits, 1.0, "exact", {"exact": 1.0}, {"exact": 1.0}
    decision = found[0]
    part = lambda recall: recall["recalled"] / max(1, recall["nearest"])
    times, recalls = {decision["rule"]: decision["measured_ns"]}, {decision["rule"]: part(decision["recall"])}
    for other in [decision["alternative"], *decision.get("others", [])]:
        if other and other.get("recall"):
            times[other["name"]], recalls[other["name"]] = other["measured_ns"], part(other["recall"])
    return hits, part(decision["recall"]), decision["rule"], times, recalls


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="vectors, .npy or .fvecs")
    parser.add_argument("--queries", type=int, default=12, help="so many are taken out of the base")
    parser.add_argument("--metric", choices=["cosine", "dot", "l2"], default="cosine")
    parser.add_argument("--tool", default="treepie", help="the tool treepie")
    args = parser.parse_args()
    base = read(args.base)
    base = base[np.linalg.norm(base, axis=1) > 0]
    step = len(base) // args.queries
    taken = np.arange(step // 2, step * args.queries, step)
    queries, base = base[taken], np.ascontiguousarray(np.delete(base, taken, axis=0))
    print(f"{len(base)} vectors of {base.shape[1]} numbers, {len(queries)} queries, {args.metric}, best {K}")
    print("kind     let through  hits  recall  least  way (of so many queries)  us  best us  times  recall of ways", flush=True)
    right, within = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = index(args.tool, folder, base, queries, args.metric)
        for kind in KINDS:
            for part in PARTS:
                m = max(1, round(len(base) * part / 100))
                answers = []
                for nth in range(len(queries)):
                    name = "random" if kind == "random" else f"{kind}_{nth}"
                    answers.append(ask(args.tool, path, "*" if m == len(base) else f"{name}:<{m}", nth))
                is_full = all(hits == min(K, m) for hits, *_ in answers)
                recalls = [recall for _, recall, *_ in answers]
                ways = [way for *_, way, _, _ in answers]
                own = statistics.mean(times[way] for _, _, way, times, _ in answers)
                # The best of the ways that find enough, taken for all of these queries.
                names = set.intersection(*[set(times) for *_, times, _ in answers])
                mean = lambda name, at: statistics.mean(answer[at][name] for answer in answers)
                good = [name for name in names if mean(name, 4) >= RECALL]
                best = min([mean(name, 3) for name in good] or [own])
                counted = ", ".join(f"{way} {ways.count(way)}" for way in sorted(set(ways)))
                shown = ", ".join(f"{name} {mean(name, 4):.3f} in {mean(name, 3) / 1e3:.0f}" for name in sorted(names))
                recall = statistics.mean(recalls)
                right += is_full and recall >= RECALL
                within += own <= WITHIN * best
                print(
                    f"{kind:8} {part:5} % {m:6}  {'all' if is_full else 'FEWER'}  {recall:.3f}  {min(recalls):.2f}  "
                    f"{counted:22}  {own / 1e3:6.0f} {best / 1e3:6.0f}  {own / best:.2f}  ({shown})",
                    flush=True,
                )
    n = len(KINDS) * len(PARTS)
    print(f"{right} of {n} cells have recall {RECALL} and all hits; {within} of {n} within {WITHIN} times the best way")


if __name__ == "__main__":
    main()
