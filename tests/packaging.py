#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed and packaged works.

    tests/packaging.py manual BUILD     each option of --help, in both
    tests/packaging.py embed BUILD      the example builds against what
                                        `cmake --install` installs, and runs
    tests/packaging.py deb BUILD        the packages' programs run, unpacked
    tests/packaging.py tarball BUILD    an archive by git knows its commit

Exit code: 0 right, 1 wrong, 77 skipped: a tool or the repository is missing.
"""

import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
SLOWER, FASTER = (
    str(REPO / f"examples/decode-h200/{name}.trace.json.gz")
    for name in ("library", "compiled"))


def output(*command, code=0, **options):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=600,
                          **options)
    if done.returncode != code:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def commands_of(program):
    """The words of the program's own list."""
    text = output(program, "--help")
    return re.findall(r"^  ([a-z]+) [A-Z]", text, re.MULTILINE)


def check_manual(build, _):
    program = build / "inferdiff"
    manual = gzip.decompress(
        (build / "manual/inferdiff.1.gz").read_bytes()).decode()
    bash = (build / "manual/inferdiff.bash").read_text()
    output("bash", "-n", build / "manual/inferdiff.bash")
    commands = commands_of(program)
    assert len(commands) >= 8 and "compare" in commands, commands
    checked = 0
    for command in commands:
        text = output(program, command, "--help")
        options = set(re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+)", text,
                                 re.MULTILINE))
        options |= set(re.findall(r"^  (-\w)\b", text, re.MULTILINE))
        section = manual.split(f"\n.SS {command}\n")[1].split("\n.SS ")[0]
        words = re.search(rf"'{command}'\) options='([^']*)'", bash).group(1)
        for option in options:
            shown = option.replace("-", "\\-")
            assert re.search(rf"^\.B .*{re.escape(shown)}\b", section,
                             re.MULTILINE), (command, option, "manual")
            assert option in words.split(), (command, option, "completion")
            checked += 1
        assert options == set(words.split()), (command, options, words)
        assert text.splitlines()[0].split()[1] in section, command
    print(f"{checked} options of {len(commands)} commands")
    check_completion(build / "manual/inferdiff.bash")


def completed(script, *words):
    """What bash offers for the last of the words."""
    typed = " ".join(f"'{word}'" for word in ("inferdiff", *words))
    return set(output("bash", "-c", f"source {script}; COMP_WORDS=({typed}); "
                      f"COMP_CWORD={len(words)}; _inferdiff; "
                      'echo "${COMPREPLY[@]}"').split())


def check_completion(script):
    for words, offered in (
            (("com",), {"compare"}),
            (("compare", "a", "--", "b", "--fail"), {"--fail-if"}),
            (("ledger", "--format", "mark"), {"markdown"}),
            (("explain", "--format", ""), {"terminal", "markdown"}),
            (("steps", "--format", ""),
             {"terminal", "markdown", "json", "tsv"}),
            (("compare", "--format", "p"), {"perfetto"}),
            (("compare", "--model", ""), set()),
            (("ledger", "--fail-if", "--"), set()),
            (("help", "led"), {"ledger"})):
        assert completed(script, *words) == offered, (words, offered)


def check_embed(build, folder):
    prefix = folder / "installed"
    output("cmake", "--install", build, "--prefix", prefix)
    assert not list(prefix.rglob("error.h")), "more than one header"
    output("cmake", "-S", REPO / "examples/embed", "-B", folder / "build",
           f"-DCMAKE_PREFIX_PATH={prefix}")
    output("cmake", "--build", folder / "build")
    gate = folder / "build/gate"
    text = output(gate, FASTER, SLOWER, code=1)
    assert "gate failed: gap.wall > 5%: it is 11." in text, text[-300:]
    text = output(gate, SLOWER, FASTER)
    program = output(prefix / "bin/inferdiff", "compare", SLOWER, "--", FASTER,
                     "--format", "markdown")
    assert text == program, "the library says something else"
    assert "unreadable-file" in output(gate, "none.json", FASTER, code=2)


def check_deb(build, folder):
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("dpkg-deb"):
        skip("no dpkg-dev")
    output("cpack", "-G", "DEB", "-B", folder, cwd=build)
    names = {re.match(r"[a-z-]+", deb.name).group(): deb
             for deb in folder.glob("*.deb")}
    assert set(names) == {"inferdiff", "libinferdiff-dev"}, names
    depends = output("dpkg-deb", "-f", names["inferdiff"], "Depends")
    for library in ("libc6", "libfmt", "libre2", "libsqlite3", "libzstd"):
        assert library in depends, depends
    root = folder / "root"
    for deb in names.values():
        output("dpkg-deb", "-x", deb, root)
    assert output(root / "usr/bin/inferdiff", "--version").startswith(
        "inferdiff ")
    output(root / "usr/bin/inferdiff", "compare", SLOWER, "--", FASTER)
    for path in ("share/man/man1/inferdiff.1.gz", "include/inferdiff.h",
                 "share/bash-completion/completions/inferdiff",
                 "share/doc/inferdiff/docs/how-it-works.md",
                 "share/doc/inferdiff/copyright"):
        assert (root / "usr" / path).is_file(), path


def check_tarball(_, folder):
    if not (REPO / ".git").exists():
        skip("not a git repository")
    archive = subprocess.run(["git", "archive", "HEAD", "cmake"], cwd=REPO,
                             stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-x"], input=archive, cwd=folder, check=True)
    output("cmake", f"-DOUTPUT={folder}/version.cc", "-DVERSION=1.2.3",
           f"-DSOURCE={folder}", "-P", folder / "cmake/version_script.cmake")
    commit = output("git", "rev-parse", "HEAD", cwd=REPO).strip()[:12]
    text = (folder / "version.cc").read_text()
    assert f'Commit() {{ return "{commit}"; }}' in text, text


def main():
    checks = {"manual": check_manual, "embed": check_embed, "deb": check_deb,
              "tarball": check_tarball}
    if len(sys.argv) != 3 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        checks[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve(),
                            pathlib.Path(folder))


if __name__ == "__main__":
    main()
