#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_docs.py catches a planted violation of each of its rules."""

import pathlib
import tempfile
import unittest

import check_docs


class CheckDocs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/model/counters.h", '#define T(X) X(kOne, "one", k, "")')
        self.write("src/integrity/capture_check.h",
                   '#define C(X) X(kTwo,\n "two-b", "")')
        self.write("src/base/a.cc", 'throw InputError(\n    "no-such", f);')
        self.write("docs/errors.md", "| `one` | x |\n| `two-b` | x |\n"
                   "| `no-such` | x |\n")
        self.write("README.md", "[a](docs/errors.md#x) [b](https://x.y/z)\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def errors(self):
        return (check_docs.id_errors(self.root) +
                check_docs.link_errors(self.root))

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.errors(), [])

    def test_an_unlisted_id(self):
        self.write("docs/errors.md", "| `one` | x |\n| `two-b` | x |\n")
        self.assertEqual(self.errors(),
                         ["docs/errors.md: no-such is not listed"])
        self.write("docs/errors.md", "| `no-such` | x |\n")
        self.assertEqual(self.errors(), ["docs/errors.md: one is not listed",
                                         "docs/errors.md: two-b is not listed"])

    def test_an_id_that_is_gone(self):
        self.write("src/base/a.cc", "")
        self.assertEqual(self.errors(),
                         ["docs/errors.md: no-such is not in src/"])

    def test_a_dead_link(self):
        self.write("docs/x.md", "[a](errors.md) [b](docs/errors.md)\n")
        self.assertEqual(self.errors(), ["docs/x.md: no docs/errors.md"])


if __name__ == "__main__":
    unittest.main()
