#!/usr/bin/env python3
"""Compares what plans expect of walks with what they do: the recall, and the distances that are computed.

See ../README.md. The expected recall of a plan is compared with the mean over all queries, whose truth is a comparison with all
vectors. Expected distances are compared with those of each query: the q-error is how many times one is the other.
"""
import json
import os
import statistics
import subprocess
import tempfile

import numpy as np

from cells import node_of
from compare import parser_of, read, write

K = 10
RECALLS = [0.8, 0.9, 0.95, 0.97, 0.99]
WITHIN, Q_ERROR = 0.05, 2.0


def index(tool, folder, base, metric, codes):
    path = lambda name: os.path.join(folder, name)
    with open(path("schema.toml"), "w") as schema:
        schema.write('[fields.n]\ntype = "u64"\n[fields.v]\ntype = "vector"\n')
        schema.write(f'dims = {base.shape[1]}\nmetric = "{metric}"\ncodes = "{codes}"\n')
    with open(path("docs.jsonl"), "w") as docs:
        docs.writelines('{"n": %d}\n' % n for n in range(len(base)))
    write(path("base.fvecs"), base, np.float32)
    command = [tool, "index", path(codes), path("docs.jsonl"), "--schema", path("schema.toml"), "--quiet"]
    subprocess.run(command + ["--vectors", "v=" + path("base.fvecs")], check=True)
    return path(codes)


def plan_of(tool, to, query, effort):
    """Neighbours that the plan expects, and distances that were computed; none where all vectors were compared."""
    vector = json.dumps([float(number) for number in query])
    command = [tool, "explain", to, "*", "--knn", f"v={vector}:{K},{effort}", "--limit", str(K)]
    run = subprocess.run(command + ["--analyze", "--format", "json"], check=True, capture_output=True, text=True)
    node = node_of(json.loads(run.stdout)["plan"])
    if "neighbors" not in node:
        return None
    return node["neighbors"], node["actual"]["vectors"]["distances"]


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--codes", default="i8,none", help="codes of the field, separated by commas")
    parser.add_argument("--plans", type=int, default=60, help="queries whose plans are looked at")
    parser.add_argument("--tool", default="treepie", help="the tool treepie")
    args = parser.parse_args()
    base = read(args.base)
    base = base[np.linalg.norm(base, axis=1) > 0]
    if args.queries.isdigit():
        step = len(base) // int(args.queries)
        taken = np.arange(0, step * int(args.queries), step)
        queries, base = base[taken], np.delete(base, taken, axis=0)
    else:
        queries = read(args.queries)
    print(f"{len(base)} vectors of {base.shape[1]} numbers, {len(queries)} queries, {args.metric}, best {K}")
    print("codes  wanted  ef  recall: expected  measured  error  distances: expected  mean  q-error", flush=True)
    right = cells = 0
    with tempfile.TemporaryDirectory() as folder:
        asked = os.path.join(folder, "queries.fvecs")
        write(asked, queries, np.float32)
        for codes in args.codes.split(","):
            to = index(args.tool, folder, base, args.metric, codes)
            for wanted in RECALLS:
                plans = [plan_of(args.tool, to, query, f"recall={wanted}") for query in queries[: args.plans]]
                plans = [plan for plan in plans if plan]
                if not plans:
                    print(f"{codes:5}  {wanted}  all vectors compared", flush=True)
                    continue
                command = [args.tool, "bench", to, "--knn", asked, "--truth", "exact", "--k", str(K)]
                command += ["--recall", str(wanted), "--passes", "1", "--format", "json"]
                run = subprocess.run(command, check=True, capture_output=True, text=True)
                measured = json.loads(run.stdout.splitlines()[-1])["recall"]["mean"]
                expected, done = plans[0][0], [distances for _, distances in plans]
                errors = [max(it / expected["distances"], expected["distances"] / max(1, it)) for it in done]
                error, q_error = expected["recall"] - measured, statistics.median(errors)
                cells += 1
                right += abs(error) <= WITHIN and q_error <= Q_ERROR
                print(
                    f"{codes:5}  {wanted}  {expected['ef']}  {expected['recall']:.4f}  {measured:.4f}  {error:+.4f}  "
                    f"{expected['distances']:.0f}  {statistics.mean(done):.0f}  {q_error:.2f}",
                    flush=True,
                )
    print(f"{right} of {cells} within {WITHIN} of the recall and {Q_ERROR} times the distances")


if __name__ == "__main__":
    main()
