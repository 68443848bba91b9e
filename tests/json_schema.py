#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates JSON that the program prints against docs/schema/.

    tests/json_schema.py --bin build/release/inferdiff [--public FOLDER]

Without --public: the sample traces, and each command of tests/cases that
writes a report, on the inputs of its case. With it: every public trace. Then
the other way round: each object of what was printed gets a field that no
schema has, and loses each field that it must have, and both must be refused.

Exit code: 0 all valid, 1 not, 77 skipped: no python3-jsonschema, or no folder.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import warnings

import run_cases

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

warnings.simplefilter("ignore", DeprecationWarning)  # of RefResolver
SCHEMAS = run_cases.REPO / "docs/schema"
EXAMPLES = run_cases.REPO / "examples"
COMMANDS = ("compare", "ledger", "steps", "kernels")
TIMEOUT_S = 300
LONGEST = 200  # elements of a list that are looked at: first and last ones


def validators():
    documents = {path.name: json.loads(path.read_text())
                 for path in sorted(SCHEMAS.glob("*.schema.json"))}
    made = {}
    for name, schema in documents.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        resolver = jsonschema.RefResolver(name, schema, store=documents)
        made[name.split(".")[0]] = jsonschema.Draft202012Validator(
            schema, resolver=resolver)
    return made


def shortened(value):
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > LONGEST:
        value = value[:LONGEST // 2] + value[-LONGEST // 2:]
    return [shortened(one) for one in value]


class Checker:
    def __init__(self, program):
        self.program = program
        self.validators = validators()
        self.valid = {kind: 0 for kind in self.validators}
        self.errors = []
        self.samples = {kind: [] for kind in self.validators}
        self.places = {kind: set() for kind in self.validators}

    def run(self, arguments, folder, env=None):
        """Validates what the program prints; what it refuses is no matter."""
        done = subprocess.run([self.program, *arguments, "--format", "json"],
                              cwd=folder, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=TIMEOUT_S)
        if done.returncode not in (0, 1) or not done.stdout:
            return
        document = shortened(json.loads(done.stdout))
        kind = document["kind"]
        for error in self.validators[kind].iter_errors(document):
            place = "/".join(map(str, error.absolute_path))
            self.errors.append(f"{shlex.join(arguments)}: {place}: "
                               f"{error.message[:300]}")
            return
        self.valid[kind] += 1
        # Kept where it has a field that no other one had there.
        found = set(places(document))
        if not found <= self.places[kind]:
            self.places[kind] |= found
            self.samples[kind].append(document)


def places(value, path=()):
    """Where objects have which field; list elements share a place."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield path + (key,)
            yield from places(one, path + (key,))
    elif isinstance(value, list):
        for one in value:
            yield from places(one, path + ("*",))


def objects(value, seen):
    """One object of each place and set of fields that are not in `seen`."""
    stack = [(value, ())]
    while stack:
        one, path = stack.pop()
        if isinstance(one, dict):
            if (path, tuple(one)) not in seen:
                seen.add((path, tuple(one)))
                yield path, one
            stack += [(inner, path + (key,)) for key, inner in one.items()]
        elif isinstance(one, list):
            stack += [(inner, path + ("*",)) for inner in one]


# Fields that stand for something that is not always there, and objects whose
# fields are names.
OPTIONAL = {"rank_set", "layers", "machine", "dive", "role_dive", "scaled_ns",
            "rank", "count_ns", "price_ns", "rest_ns"}
MAPS = {("cycles", "steps"), ("rank_set", "ranks", "*", "category_sum_ns")}


def is_map(path):
    return any(path[-len(one):] == one for one in MAPS)


def small(value):
    """Lists cut to an element of each set of fields: made 1000 times."""
    if isinstance(value, dict):
        return {key: small(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    kept = {}
    for one in value:
        key = tuple(one) if isinstance(one, dict) else type(one)
        kept.setdefault(key, small(one))
    return list(kept.values())


def refusals(checker, kind):
    """Damaged documents must be refused: (tried, errors)."""
    validator = checker.validators[kind]
    tried, errors, seen = 0, [], set()
    for document in map(small, checker.samples[kind]):
        assert validator.is_valid(document)
        for path, one in objects(document, seen):
            if is_map(path):
                continue
            place = f"{kind}: {'/'.join(path)}"
            one["unheard_of"] = 1
            if validator.is_valid(document):
                errors.append(f"{place}: a new field is accepted")
            del one["unheard_of"]
            for key in [key for key in one if key not in OPTIONAL]:
                value = one.pop(key)
                if validator.is_valid(document):
                    errors.append(f"{place}: without {key} it is accepted")
                one[key] = value
                tried += 1
            tried += 1
    return tried, errors


# --- what is validated --------------------------------------------------------


def check_examples(checker):
    traces = sorted(EXAMPLES.glob("*/*.json.gz"))
    for trace in traces:
        for command in ("ledger", "steps", "kernels"):
            checker.run([command, str(trace)], EXAMPLES)
    for folder in sorted({trace.parent for trace in traces}):
        inside = [str(trace) for trace in traces if trace.parent == folder]
        for a, b in zip(inside, inside[1:]):
            checker.run(["compare", a, "--", b, "--category", "moe", "--role",
                         "attention"], EXAMPLES)
    for name in ("host-delay", "large"):
        checker.run(["ledger", f"ranks-h200/{name}-TP-*"], EXAMPLES)
    checker.run(["compare", "ranks-h200/host-delay-TP-*", "--",
                 "ranks-h200/extra-work-TP-*", "--floor", "A=1us,B=2us"],
                EXAMPLES)


def arguments_of(line):
    """Those of a report's command, without where it goes; else nothing."""
    words = shlex.split(line)
    if "|" in words:
        words = words[:words.index("|")]
    if "=" in words[0] or words[0] != "inferdiff" or len(words) < 2:
        return None
    if words[1] not in COMMANDS or {"-h", "--help", "--shard"} & set(words):
        return None
    kept, words = [], words[1:]
    while words:
        word = words.pop(0)
        if word in ("-o", "--output", "--format", ">"):
            words = words[1:]
        else:
            kept.append(word)
    return kept


def check_cases(checker):
    traces = run_cases.traces_folder()
    env = run_cases.environment(pathlib.Path(checker.program))
    for path in sorted((run_cases.REPO / "tests/cases").glob("**/*.case")):
        case = run_cases.parse(path)
        if any(not (traces / needed).exists() for needed in case.needs):
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run_cases.prepare(case, folder, traces)
            for command in case.commands:
                run_cases.run_command(command.line, folder, env)
                if arguments := arguments_of(command.line):
                    checker.run(arguments, folder, env)


def check_public(checker, folder):
    traces = [path for path in sorted(folder.glob("**/*"))
              if path.is_file() and path.suffix not in (".md", ".txt")]
    for trace in traces:
        for command in ("ledger", "steps", "kernels"):
            checker.run([command, str(trace)], folder)
    for a, b in zip(traces, traces[1:]):
        checker.run(["compare", str(a), "--", str(b)], folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--public", type=pathlib.Path)
    options = parser.parse_args()
    checker = Checker(str(pathlib.Path(options.bin).resolve()))
    if options.public:
        if not options.public.is_dir():
            print(f"skipped: no {options.public}")
            return 77
        check_public(checker, options.public)
    else:
        check_examples(checker)
        check_cases(checker)
    errors, tried = checker.errors, 0
    for kind in checker.validators:
        if not checker.valid[kind]:
            errors.append(f"{kind}: nothing was validated")
        elif not options.public:
            more, refused = refusals(checker, kind)
            tried += more
            errors += refused
    print(*errors[:40], sep="\n", end="\n" if errors else "")
    print(f"valid: {checker.valid}; damaged and refused: {tried}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
