#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks src/ against the tables of docs/architecture.md.

    tests/check_layers.py [REPOSITORY]

- A folder includes only what its row allows; every folder has a row, every
  row has a folder, and a row names only itself and rows above it.
- Third-party headers appear in .cc files only (fmt and forward declarations
  excepted), and only in the folders their row names. One without a row is an
  error.
- Only cli prints or ends the process.
- Every file starts with its SPDX line; every header has #pragma once.
"""

import pathlib
import re
import sys

# json_fwd.hpp declares and defines nothing.
ALLOWED_IN_HEADERS = ("fmt/", "nlohmann/json_fwd.hpp")
MAY_PRINT = "cli"

# What prints or ends the process, in code without comments and strings.
PRINTS = re.compile(
    r"std::c(?:out|err|log)\b|\bfmt::print\b|\b(?:v?f?printf|f?puts|f?putchar|"
    r"perror|abort|_?_?exit|_Exit|quick_exit)\s*\(|std::(?:terminate|exit)\b|"
    r"\bstd(?:out|err)\b|#\s*include\s*<(?:iostream|print)>")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Comments, raw strings, strings and characters; a digit separator (1'000) is
# not the start of a character.
TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)


def table_rows(text, first_column):
    """The rows of the Markdown table whose first heading is that."""
    rows, inside = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == first_column:
            inside = True
        elif inside and not cells[0].startswith("-"):
            rows.append(cells)
    return rows


def names(cell):
    return [name.strip() for name in cell.split(",") if name.strip()]


def is_standard(header):
    """<vector>, <cstdint>: neither a folder nor an extension."""
    return "/" not in header and "." not in header


def without_comments_and_strings(text):
    # Include lines keep their names: they are looked at as code as well.
    return TOKENS.sub(lambda m: "\n" * m.group().count("\n") or " ", text)


class Checker:
    def __init__(self, root):
        self.src = root / "src"
        text = (root / "docs/architecture.md").read_text()
        self.layers = {row[0]: names(row[2])
                       for row in table_rows(text, "folder")}
        self.third_party = [(prefix, names(row[2]))
                            for row in table_rows(text, "header")
                            for prefix in names(row[0])]
        self.errors = []

    def fail(self, path, offset, text, message):
        line = text.count("\n", 0, offset) + 1
        self.errors.append(f"src/{path.relative_to(self.src)}:{line}: {message}")

    def check_tables(self):
        if not self.layers or not self.third_party:
            self.errors.append("docs/architecture.md: a table is missing")
        above = []
        for folder, allowed in self.layers.items():
            for name in allowed:
                if name.split("/")[0] not in above:
                    self.errors.append(f"docs/architecture.md: {folder} may "
                                       f"not name {name}: not a row above it")
            above.append(folder)
        folders = {p.relative_to(self.src).parts[0] for p in self.sources()
                   if p.parent != self.src}
        for folder in sorted(folders - set(self.layers)):
            self.errors.append(f"src/{folder}: no row in docs/architecture.md")
        for folder in sorted(set(self.layers) - folders):
            self.errors.append(f"docs/architecture.md: no src/{folder}")

    def sources(self):
        return sorted(p for p in self.src.rglob("*") if p.is_file())

    def check_file(self, path):
        parts = path.relative_to(self.src).parts
        text = path.read_text()
        if len(parts) != 2 or path.suffix not in (".h", ".cc"):
            self.fail(path, 0, "", "sources are src/FOLDER/NAME.h or .cc")
            return
        if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
            self.fail(path, 0, text, "the first line is not the SPDX line")
        if path.suffix == ".h" and "\n#pragma once\n" not in text:
            self.fail(path, 0, text, "no #pragma once")
        for match in INCLUDE.finditer(text):
            error = self.include_error(path, parts[0], *match.groups())
            if error:
                self.fail(path, match.start(2), text, error)
        code = without_comments_and_strings(text)
        for match in PRINTS.finditer(code) if parts[0] != MAY_PRINT else ():
            self.fail(path, match.start(), code,
                      f"{match.group()}: only {MAY_PRINT} prints or exits")

    def include_error(self, path, folder, bracket, header):
        """What is wrong with an include, or None."""
        if bracket == '"':
            return self.own_include_error(folder, header)
        if is_standard(header):
            return None
        for prefix, folders in self.third_party:
            if header != prefix and not (
                    header.startswith(prefix.rstrip("/") + "/")):
                continue
            if path.suffix == ".h" and (
                    not header.startswith(ALLOWED_IN_HEADERS)):
                return f"<{header}> in a header: third-party only in .cc files"
            if folder not in folders and folders != ["all"]:
                return f"<{header}> is for {', '.join(folders)} only"
            return None
        return f"<{header}> is not in the table of third-party headers"

    def own_include_error(self, folder, header):
        target = header.split("/")[0]
        if not (self.src / header).is_file() or ".." in header:
            return f'"{header}" is not a file of src/, written from there'
        if target == folder:
            return None
        allowed = self.layers.get(folder, [])
        if target in allowed or header in allowed:
            return None
        return f'{folder} may not include "{header}"'

    def run(self):
        self.check_tables()
        for path in self.sources():
            self.check_file(path)
        return self.errors


def main():
    default = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    errors = Checker(root).run()
    print(*errors, sep="\n", end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
