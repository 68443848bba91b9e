#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON of `ledger` as a side of `compare`.

    tests/ledger_documents.py INFERDIFF LIBRARY COMPILED

Two traces, or sets of them ("TP-0.json,TP-1.json"), against each other, then their documents, then a document against a
trace: the same gap, causes, categories, kernels and capture checks. Documents
that were cut, whose figures do not add up, or whose fields are of another kind
are refused with exit 2, whatever was done to them.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SAME = ("comparable", "gap", "gap_parts", "causes", "categories", "groups",
        "cycles", "a_totals", "b_totals")
SAME_OF_SIDE = ("per_step", "step_amounts", "categories", "kernels", "families",
                "coverage", "integrity", "import", "devices", "steps",
                "cycles")


def run(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True)


def traces_of(words):
    return str(words).split(",")


def compared(program, a, b):
    done = run(program, "compare", *traces_of(a), "--", *traces_of(b),
               "--format", "json")
    if done.returncode != 0:
        sys.exit(f"compare {a} {b}: {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def check_same(name, one, other):
    for field in SAME:
        x, y = one[field], other[field]
        if field == "comparable":  # how much replays graphs is not written
            x, y = ({**z, "unknown": [u for u in z["unknown"]
                                      if u != "graph mode"]} for z in (x, y))
        if field == "causes":  # nor are operations, so there is no alignment
            x, y = ({**z, "roles": None} for z in (x, y))
        if x != y:
            sys.exit(f"{name}: {field} differs")
    late = [[f for f in x["findings"] if f["id"].startswith("straggler")]
            for x in (one, other)]
    if late[0] != late[1]:
        sys.exit(f"{name}: late ranks differ")
    for side in "ab":
        for field in SAME_OF_SIDE:
            if one[side][field] != other[side][field]:
                sys.exit(f"{name}: {side}.{field} differs")


def damaged(document, rng):
    """Some field of some object changed, anywhere but in what is only shown."""
    copy = json.loads(json.dumps(document))
    places = ["steps", "per_step", "categories", "kernels", "families",
              "step_amounts", "trace", "input", "cycles", "coverage"]
    if "rank_set" in copy:  # only its ranks are read
        places.append("rank_set")
        for shown in ("count", "findings", "long_waits"):
            copy["rank_set"].pop(shown, None)
    place = copy[rng.choice(places)]
    while True:
        key = (rng.choice(list(place)) if isinstance(place, dict)
               else rng.randrange(len(place)))
        if not isinstance(place[key], (dict, list)) or not place[key]:
            break
        place = place[key]
    place[key] = rng.choice([None, True, -1, 1 << 62, -(1 << 63), 1e300, 0.5,
                             "x", "9" * 40, [], {}, [[]]])
    return copy


def main():
    program, *traces = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = []
        for i, trace in enumerate(traces):
            files.append(folder / f"{i}.json")
            if run(program, "ledger", *traces_of(trace), "-o",
                   files[-1]).returncode != 0:
                sys.exit(f"ledger {trace} fails")
        wanted = compared(program, *traces)
        check_same("documents", compared(program, *files), wanted)
        check_same("document and trace",
                   compared(program, files[0], traces[1]), wanted)
        text = files[0].read_text()
        bad = folder / "bad.json"
        rng = random.Random(1)
        refused = 0
        document = json.loads(text)
        for i in range(150):
            bad.write_text(json.dumps(damaged(document, rng)) if i % 5 else
                           text[:rng.randrange(200, len(text) - 2)])
            done = run(program, "compare", bad, "--", files[1], "-o",
                       folder / "out.json")
            if done.returncode not in (0, 2):
                sys.exit(f"damaged document {i}: exit {done.returncode}\n"
                         + done.stderr)
            if done.returncode == 2:
                refused += 1
                if "bad-ledger-json" not in done.stderr:
                    sys.exit(f"damaged document {i}: {done.stderr}")
        if refused < 90:
            sys.exit(f"only {refused} of 150 damaged documents are refused")
        print(f"the same comparison; {refused} of 150 damaged ones refused")


if __name__ == "__main__":
    main()
