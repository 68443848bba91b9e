#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `redact` writes holds no secret, and accounts as the trace did.

    tests/redact.py --bin build/release/inferdiff [--public FOLDER]

Secrets of every kind are planted in every string of the sample trace (alone,
and behind what stood there), in new fields of each object and in values of
every kind, but not in the names of GPU operations, which stay. None of them may
be in the redacted trace. The ledgers before and after are equal but for the
file's label, size and checksum, also for every public Kineto trace.

Exit code: 0 right, 1 wrong, 77 skipped: no such folder.
"""

import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = REPO / "examples/decode-h200/library.trace.json.gz"
GPU = {"kernel", "gpu_memcpy", "gpu_memset"}

SECRETS = [
    "zq-alice", "zqhost17.corp.example", "/home/zqbob/serve.py(12): run",
    "C:\\Users\\zqbob\\m.py", "10.77.88.99", "fe80::77:88ff:fe99:aa",
    "de:77:be:88:00:99", "https://zq.example/x?y=1", "zq@corp.example",
    "hf_zqAbCdEf0123456789", "sk-zq0123456789", "python zq.py --token=zq",
    "slurm_job_zq", "ZQ_ENV=zqvalue", "zq\u00e9\u4e2d\u6587",
    "quote \" and \\ zq", "decode 10.77.88.99", "step zq",
]
# In any of these a secret shows; what they hold is in no sample.
MARKS = re.compile(rb"zq|10\.77\.88|fe80|de:77:|\\u4e2d|\xe4\xb8\xad",
                   re.IGNORECASE)


def run(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300)
    assert done.returncode == code, (arguments, done.returncode,
                                     done.stderr.decode()[-500:])
    return done.stdout.decode() if code == 0 else done.stderr.decode()


def ledger(program, path):
    document = json.loads(run(program, "ledger", path, "--format", "json"))
    for key in ("label", "size_bytes", "crc32"):
        del document["input"][key]
    return document


def same_ledger(program, before, after):
    old, new = ledger(program, before), ledger(program, after)
    for key in old:
        assert old[key] == new[key], (before.name, key)
    dump = [run(program, "dump", path).split("\n", 1)[1]
            for path in (before, after)]
    assert dump[0] == dump[1], before.name


class Planter:
    def __init__(self, behind):
        self.behind, self.next, self.planted = behind, 0, 0

    def secret(self, old=""):
        self.next += 1
        self.planted += 1
        text = SECRETS[self.next % len(SECRETS)]
        return f"{old} {text}" if self.behind and old else text

    def value(self, value, keep=()):
        if isinstance(value, str):
            return self.secret(value)
        if isinstance(value, list):
            return [self.value(one) for one in value] + [self.secret()]
        if not isinstance(value, dict):
            return value
        planted = {key: one if key in keep else self.value(one)
                   for key, one in value.items()}
        planted["unheard of"] = {"deep": [self.secret(), {"er": self.secret()}],
                                 self.secret(): 1}
        planted["hostname"] = self.secret()
        return planted

    def event(self, event):
        # What the reader needs to know an event; names of the GPU's and, of a
        # trace that is still one, of the calls.
        keep = {"ph", "cat", "bp"}
        category = event.get("cat")
        if category in GPU or category in ("cuda_runtime", "cuda_driver"):
            keep.add("name")
        if not self.behind and category == "user_annotation":
            keep.add("name")
        return self.value(event, keep)


def planted_trace(behind):
    document = json.loads(gzip.decompress(SAMPLE.read_bytes()))
    events = document.pop("traceEvents")
    planter = Planter(behind)
    device = document["deviceProperties"][0]["name"]
    metadata = planter.value(document)
    # It tells the maker, which the ledger has.
    metadata["deviceProperties"][0]["name"] = device
    names = [{"ph": "M", "name": "process_name", "pid": 0, "tid": 0,
              "args": {"name": "python"}},
             {"ph": "X", "cat": "python_function", "name": "f", "pid": 1,
              "tid": 1, "ts": 1, "dur": 1, "args": {"Python id": 1}},
             {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1,
              "tid": 1, "ts": 1, "dur": 1, "args": {"Input type": ["float"]}},
             {"ph": "i", "cat": "odd", "name": "x", "pid": "Spans", "tid": "t",
              "ts": 1, "s": "g"}]
    metadata["traceEvents"] = [planter.event(one) for one in names + events]
    metadata["zq behind"] = planter.secret()
    assert planter.planted > 10_000, planter.planted
    return metadata, planter.planted


def check_planted(program, folder, behind):
    document, planted = planted_trace(behind)
    for name, ascii_only, pack in (("p.json", True, bytes),
                                   ("p.json.gz", False, gzip.compress)):
        path = folder / name
        path.write_bytes(pack(json.dumps(
            document, ensure_ascii=ascii_only).encode()))
        out = folder / f"out-{name}"
        run(program, "redact", path, "-o", out)
        data = out.read_bytes()
        data = gzip.decompress(data) if name.endswith(".gz") else data
        found = MARKS.search(data)
        assert not found, data[max(0, found.start() - 200):found.end() + 50]
        json.loads(data)
        same_ledger(program, path, out)
        for command, form in (("ledger", "markdown"), ("steps", "json"),
                              ("ledger", "perfetto"), ("ledger", "html"),
                              ("kernels", "tsv")):
            text = subprocess.run([program, command, out, "--format", form],
                                  stdout=subprocess.PIPE, check=True).stdout
            assert not MARKS.search(text), (command, form)
    listed = run(program, "redact", path, "--preview").splitlines()
    originals = "\n".join(line.split("\t")[2] for line in listed[1:])
    for secret in SECRETS[:14]:
        assert secret.replace("\\", "\\\\") in originals, secret
    return planted


def check_stable(program, folder):
    """The same text, the same placeholder; another one, another."""
    path, out = folder / "stable.json", folder / "stable.out.json"
    texts = ["/a/b", "/a/c", "/a/b"]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "python_function", "name": text, "ts": 1.25,
         "dur": 0.001} for text in texts]}))
    run(program, "redact", path, "-o", out)
    names = [event["name"] for event in
             json.loads(out.read_text())["traceEvents"]]
    assert names[0] == names[2] != names[1], names
    assert "1.25," in out.read_text() and "0.001}" in out.read_text()


def check_refusals(program, folder):
    whole = gzip.decompress(SAMPLE.read_bytes())
    for name, data in (("cut.json", whole[:-100]),
                       ("cut.json.gz", SAMPLE.read_bytes()[:-100]),
                       ("quote.json", whole.replace(b'"ph"', b'"ph', 1)),
                       ("word.json", whole.replace(b'"ts": ', b'"ts": zq', 1)),
                       ("behind.json", whole + b"zq"),
                       ("table.csv", b"a,b\n1,2\n")):
        path, out = folder / name, folder / "refused.json"
        path.write_bytes(data)
        message = run(program, "redact", path, "-o", out, code=2)
        assert "not-redactable" in message, (name, message)
        assert not out.exists(), name
    message = run(program, "redact", SAMPLE, code=2)
    assert "--preview" in message
    assert "would replace" in run(program, "redact", path, "-o", path, code=2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--public", type=pathlib.Path)
    options = parser.parse_args()
    program, checked = options.bin, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.public:
            if not options.public.is_dir():
                print(f"skipped: no {options.public}")
                return 77
            for path in sorted(options.public.glob("**/*.json.gz")):
                out = folder / "out.json.zst"
                code = subprocess.run(
                    [program, "redact", str(path), "-o", str(out)],
                    stderr=subprocess.DEVNULL).returncode
                if code == 0 and subprocess.run(
                        [program, "ledger", str(path)],
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL).returncode == 0:
                    same_ledger(program, path, out)
                    checked.append(path.name)
            assert len(checked) > 10, checked
        else:
            planted = [check_planted(program, folder, behind)
                       for behind in (False, True)]
            check_stable(program, folder)
            check_refusals(program, folder)
            print(f"{sum(planted)} secrets planted")
    print(f"{len(checked)} public traces")
    return 0


if __name__ == "__main__":
    sys.exit(main())
