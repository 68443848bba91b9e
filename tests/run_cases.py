#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests/cases/**/*.case: text in, text out, through the program.

    tests/run_cases.py --bin build/release/inferdiff [--update] [PATH...]

A case is one text file. What it holds, in this order:

    # Why the case exists, in one or more comment lines. Required.
    needs: h200/graph-serial-TP-0.trace.json.gz   <- optional, public traces

    # file a.json                           <- input files, any number
    {"traceEvents": [
    ]}
    # file cut.json.gz = a.json | gzip | truncate 40

    $ inferdiff ledger a.json               <- commands, any number
    what it prints on stdout
    stderr:
    what it prints on stderr
    exit: 2

Input files. The body runs to the next `# file` or `$` line; blank lines at
its end are dropped. `= NAME...` takes the bytes of earlier files instead of a
body (several are joined). Filters follow, each behind a `|`:

    chomp         without the newline at the end
    expand        \\xHH is that byte; <<TEXT * N>> is TEXT N times, and in it
                  %{i}, %{i*1000}, %{i*1000+7} count from 0
    hex           the body is hex digits, blanks ignored
    repeat N      the whole N times
    truncate N    the first N bytes; a negative N drops the last -N
    flip N        byte N inverted
    gzip gunzip zstd
    sqlite        the whole is SQL; the database that it makes

Commands run in a folder that holds the files; `traces` there is the folder of
public traces and `repo` the repository. No shell: the line is split as a
shell would, `|` makes a pipe, `> NAME` at the end writes stdout to a file and
VAR=VALUE in front sets the environment. Any program may be called (cat, grep,
cmp ...); `inferdiff` is the one just built. One stage is built in:

    json PATH...  prints the value at each path of the JSON on stdin, a line
                  each. A path is keys with dots; a number indexes a list, *
                  takes every element, KEY=VALUE those where KEY is VALUE:
                  categories.name=attention.sum_ns

Expectations. Lines are compared exactly; blank lines at the end are ignored.
No `stderr:` means stderr is empty, no `exit:` means 0. The exit code of a pipe
is the first that is not 0. Placeholders: %int% %float% %hex% %version% %any%
(anything within the line); a line that is just %lines% is any number of lines.
An output line that looks like this format's own is written with a \\ before it.

--update rewrites the expectations from what the program prints; placeholders
stay where they still match. Read the diff before committing it.

Exit code: 0 all passed, 1 a case failed, 77 nothing ran but skipped cases.
"""

import argparse
import difflib
import gzip
import json
import os
import pathlib
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

REPO = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_S = 300  # generous: the sanitizers on a busy machine
SKIPPED = 77
MAX_INPUT_BYTES = 1 << 28

PLACEHOLDERS = {
    "%int%": r"-?\d[\d,]*",
    "%float%": r"-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?",
    "%hex%": r"[0-9a-fA-F]+",
    "%version%": r"\d+\.\d+\.\d+(?: \([^)\n]*\))?",
    "%any%": r"[^\n]*",
}
LINES = "%lines%"


class CaseError(Exception):
    """The case itself is wrong: the message says where and how."""


@dataclass
class InputFile:
    name: str
    sources: list
    filters: list
    body: list = field(default_factory=list)


@dataclass
class Command:
    line: str
    expected: list = field(default_factory=list)  # as written in the case


@dataclass
class Case:
    path: pathlib.Path
    needs: list = field(default_factory=list)
    head: list = field(default_factory=list)  # lines before the first command
    files: list = field(default_factory=list)
    commands: list = field(default_factory=list)


# --- reading a case ---------------------------------------------------------


def parse_file_line(line):
    head, *filters = [part.strip() for part in line[len("# file "):].split("|")]
    name, _, sources = head.partition("=")
    name = name.strip()
    if not name or name.startswith("/") or ".." in name.split("/"):
        raise CaseError(f"bad file name in: {line}")
    return InputFile(name, sources.split(), filters)


def parse(path):
    case = Case(path)
    current = None
    for line in path.read_text().split("\n"):
        if line.startswith("$ "):
            current = Command(line[2:])
            case.commands.append(current)
            continue
        if isinstance(current, Command) and not line.startswith("# file "):
            current.expected.append(line)
            continue
        if isinstance(current, Command):
            raise CaseError("files come before the first command")
        case.head.append(line)
        if line.startswith("# file "):
            current = parse_file_line(line)
            case.files.append(current)
        elif current:
            current.body.append(line)
        elif line.startswith("needs:"):
            case.needs += line[len("needs:"):].split()
        elif line and not line.startswith("#"):
            raise CaseError(f"not a comment, needs:, # file or $ line: {line}")
    if not case.head or not case.head[0].startswith("# ") or (
            case.head[0].startswith("# file ")):
        raise CaseError("the first line is a comment that says why")
    if not case.commands:
        raise CaseError("no command")
    return case


# --- making input files -----------------------------------------------------


def expand(data):
    """\\xHH and <<TEXT * N>>, see the top of this file."""

    def count(match, i):
        factor, offset = match.group(1) or b"1", match.group(2) or b"0"
        return str(i * int(factor) + int(offset)).encode()

    def repeat(match):
        text, times = match.group(1), int(match.group(2))
        if len(text) * times > MAX_INPUT_BYTES:
            raise CaseError("an expanded file would be over 256 MiB")
        counter = re.compile(rb"%\{i(?:\*(\d+))?(?:\+(\d+))?\}")
        if not counter.search(text):
            return text * times
        return b"".join(counter.sub(lambda m, i=i: count(m, i), text)
                        for i in range(times))

    data = re.sub(rb"<<(.*?) \* (\d+)>>", repeat, data, flags=re.DOTALL)
    return re.sub(rb"\\x([0-9a-fA-F]{2})",
                  lambda m: bytes([int(m.group(1), 16)]), data)


def flip(data, n):
    return data[:n] + bytes([data[n] ^ 0xFF]) + data[n + 1:]


def sqlite(script):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(script.decode())
        connection.close()
        return path.read_bytes()


FILTERS = {
    "chomp": lambda data: data.rstrip(b"\n"),
    "expand": expand,
    "hex": lambda data: bytes.fromhex(data.decode()),
    "repeat": lambda data, n: data * n,
    "truncate": lambda data, n: data[:n],
    "flip": flip,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "gunzip": gzip.decompress,
    "sqlite": sqlite,
    "zstd": lambda data: subprocess.run(
        ["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout,
}


def write_input(folder, spec):
    if spec.sources:
        data = b"".join((folder / name).read_bytes() for name in spec.sources)
    else:
        body = "\n".join(spec.body).rstrip("\n")
        data = (body + "\n").encode() if body else b""
    for text in spec.filters:
        name, *args = text.split()
        if name not in FILTERS:
            raise CaseError(f"no such filter: {name}")
        data = FILTERS[name](data, *map(int, args))
        if len(data) > MAX_INPUT_BYTES:
            raise CaseError(f"{spec.name} would be over 256 MiB")
    target = folder / spec.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


# --- running commands -------------------------------------------------------


def pick(value, keys):
    """Every value that a `json` path leads to."""
    if not keys:
        return [value]
    key, rest = keys[0], keys[1:]
    if isinstance(value, list):
        name, selects, wanted = key.partition("=")
        if key == "*":
            chosen = value
        elif selects:
            chosen = [e for e in value if isinstance(e, dict)
                      and str(e.get(name)) == wanted]
        else:
            chosen = value[int(key):][:1] if key.isdigit() else []
    elif isinstance(value, dict):
        chosen = value.values() if key == "*" else (
            [value[key]] if key in value else [])
    else:
        chosen = []
    return [found for element in chosen for found in pick(element, rest)]


def run_json(paths, data):
    try:
        document = json.loads(data)
    except ValueError as error:
        return b"", f"json: {error}\n".encode(), 1
    lines, missing = [], ""
    for path in paths:
        found = pick(document, path.split("."))
        missing += "" if found else f"json: nothing at {path}\n"
        lines += [f"{path}: {json.dumps(value)}\n" for value in found]
    return "".join(lines).encode(), missing.encode(), 1 if missing else 0


def run_stage(argv, data, folder, env):
    env = dict(env)
    while argv and re.match(r"[A-Za-z_]\w*=", argv[0]):
        name, _, env[name] = argv.pop(0).partition("=")
    if not argv:
        raise CaseError("a command is missing")
    if argv[0] == "json":
        return run_json(argv[1:], data)
    try:
        done = subprocess.run(argv, input=data, cwd=folder, env=env,
                              capture_output=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return b"", f"killed after {TIMEOUT_S} s\n".encode(), 124
    except OSError as error:
        return b"", f"{argv[0]}: {error.strerror}\n".encode(), 127
    return done.stdout, done.stderr, done.returncode


def run_command(line, folder, env):
    """(stdout, stderr, exit code) of one `$` line."""
    stages = [[]]
    for word in shlex.split(line):
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    target = None
    if len(stages[-1]) > 2 and stages[-1][-2] == ">":
        target = folder / stages[-1].pop()
        stages[-1].pop()
    data, errors, code = b"", b"", 0
    for argv in stages:
        data, error, stage_code = run_stage(argv, data, folder, env)
        errors += error
        code = code or stage_code
    if target:
        target.write_bytes(data)
        data = b""
    return data, errors, code


# --- comparing and updating -------------------------------------------------


def to_lines(data):
    text = data.decode("utf-8", "backslashreplace").rstrip("\n")
    return [re.sub(r"^(?=\\*(\$ |# file |stderr:|exit:))", r"\\", line)
            for line in text.split("\n")] if text else []


def render(stdout, stderr, code):
    """What the case would have to say after its `$` line."""
    lines = to_lines(stdout)
    if stderr:
        lines += ["stderr:"] + to_lines(stderr)
    if code:
        lines.append(f"exit: {code}")
    return lines


def pattern(line):
    if line == LINES:
        return r"(?:[^\n]*\n)*?"
    parts = re.split("(" + "|".join(PLACEHOLDERS) + ")", line)
    return "".join(PLACEHOLDERS.get(p) or re.escape(p) for p in parts) + r"\n"


def matches(expected, actual):
    regex = "".join(pattern(line) for line in expected)
    return re.fullmatch(regex, "".join(line + "\n" for line in actual))


def merge(expected, actual):
    """The actual lines, with those placeholder lines that still match."""
    merged, start = [], 0
    for line in actual:
        for i in range(start, len(expected)):
            if expected[i] != LINES and matches([expected[i]], [line]):
                line, start = expected[i], i + 1
                break
        merged.append(line)
    return merged


def strip_blank(lines):
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    return lines[:end]


def traces_folder():
    return pathlib.Path(os.environ.get("INFERDIFF_TRACES")
                        or REPO.parent / "shared/traces").resolve()


def environment(binary):
    env = dict(os.environ, TZ="UTC",
               PATH=f"{binary.parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("NO_COLOR", "COLUMNS"):
        env.pop(name, None)
    return env


def prepare(case, folder, traces):
    (folder / "repo").symlink_to(REPO)
    (folder / "traces").symlink_to(traces)
    for spec in case.files:
        write_input(folder, spec)


def run_case(case, binary, traces, update):
    """Runs a case; the report of what differs, empty where nothing does."""
    report = []
    env = environment(binary)
    output = list(case.head)
    with tempfile.TemporaryDirectory(prefix="inferdiff-case-") as name:
        folder = pathlib.Path(name)
        prepare(case, folder, traces)
        for command in case.commands:
            actual = render(*run_command(command.line, folder, env))
            expected = strip_blank(command.expected)
            tail = command.expected[len(expected):]
            if not matches(expected, actual):
                merged = merge(expected, actual)
                report += [f"$ {command.line}"] + list(difflib.unified_diff(
                    expected, merged, "expected", "actual", lineterm=""))
                expected = merged
            output += [f"$ {command.line}"] + expected + tail
    if update and report:
        case.path.write_text("\n".join(output))
    return report


def run_path(path, args, binary, traces):
    """'passed', 'failed', 'skipped' or 'updated', having said why."""
    label = path.relative_to(REPO) if path.is_relative_to(REPO) else path
    try:
        case = parse(path)
        absent = [n for n in case.needs if not (traces / n).exists()]
        if absent:
            print(f"SKIP {label}: not in {traces}: {', '.join(absent)}")
            return "skipped"
        report = run_case(case, binary, traces, args.update)
    except (CaseError, OSError, ValueError, IndexError, TypeError,
            subprocess.CalledProcessError) as error:
        print(f"FAIL {label}: the case is wrong: {error}")
        return "failed"
    if not report:
        return "passed"
    if args.update:
        print(f"updated {label}")
        return "updated"
    print(f"FAIL {label}", *report, sep="\n")
    print(f"If the new output is right: tests/run_cases.py --update {label}")
    return "failed"


def main():
    parser = argparse.ArgumentParser(
        description="Runs .case files; the format is described at the top of "
        "this script.")
    parser.add_argument("--bin", type=pathlib.Path,
                        default=REPO / "build/release/inferdiff")
    parser.add_argument("--update", action="store_true",
                        help="rewrite the expectations")
    parser.add_argument("paths", nargs="*", type=pathlib.Path,
                        default=[REPO / "tests/cases"])
    args = parser.parse_args()
    binary = args.bin.resolve()
    if not os.access(binary, os.X_OK):
        parser.error(f"{args.bin} is not a program: build first, or --bin")
    traces = traces_folder()
    counts = dict.fromkeys(["passed", "failed", "skipped", "updated"], 0)
    for path in args.paths:
        found = sorted(path.rglob("*.case")) if path.is_dir() else [path]
        for case_path in found:
            counts[run_path(case_path.resolve(), args, binary, traces)] += 1
    print(", ".join(f"{n} {what}" for what, n in counts.items()
                    if n or what in ("passed", "failed")))
    if counts["failed"] or not any(counts.values()):
        return 1
    return SKIPPED if counts["skipped"] == sum(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
