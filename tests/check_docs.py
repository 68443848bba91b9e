#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what documentation promises about the sources.

    tests/check_docs.py [REPOSITORY]

- docs/errors.md lists exactly the counters of src/model/counters.h, the checks
  of src/integrity/capture_check.h and the ids of the InputErrors that src/
  throws: rows that begin with | `id` |.
- Links from Markdown files to files of the repository lead somewhere.
"""

import pathlib
import re
import sys

TABLE_ROW = re.compile(r'X\(k\w+,\s*"([\w-]+)"')
ERROR = re.compile(r'InputError\(\s*"([\w-]+)"')
ROW = re.compile(r"^\| `([\w-]+)` \|", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def id_errors(root):
    used = set()
    for table in ("model/counters.h", "integrity/capture_check.h"):
        used |= set(TABLE_ROW.findall((root / "src" / table).read_text()))
    for path in root.glob("src/*/*.*"):
        used |= set(ERROR.findall(path.read_text()))
    listed = set(ROW.findall((root / "docs/errors.md").read_text()))
    return ([f"docs/errors.md: {name} is not listed"
             for name in sorted(used - listed)] +
            [f"docs/errors.md: {name} is not in src/"
             for name in sorted(listed - used)])


def link_errors(root):
    pages = [p for pattern in ("*.md", "docs/*.md", "examples/**/*.md")
             for p in sorted(root.glob(pattern))]
    return [f"{page.relative_to(root)}: no {link}"
            for page in pages for link in LINK.findall(page.read_text())
            if not (page.parent / link).exists()]


def main():
    default = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    errors = id_errors(root) + link_errors(root)
    print(*errors, sep="\n", end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
