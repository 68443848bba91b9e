#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every rule of check_layers.py catches a planted violation of it."""

import pathlib
import tempfile
import unittest

from check_layers import Checker

TABLES = """
| folder | what | may include |
|---|---|---|
| base | x | |
| model | x | base |
| ledger | x | base, model/trace.h |
| cli | x | base, model, ledger |

| header | what for | folders |
|---|---|---|
| fmt/ | x | all |
| CLI/ | x | cli |
| simdjson.h | x | model |
| nlohmann/ | x | model |
"""
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"


class CheckLayers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/architecture.md", TABLES)
        self.write("src/base/a.h", HEADER + "#include <vector>\n")
        self.write("src/model/trace.h", HEADER + '#include "base/a.h"\n')
        self.write("src/model/other.h", HEADER + "#include <fmt/core.h>\n"
                   "#include <nlohmann/json_fwd.hpp>\n")
        self.write("src/model/trace.cc", SPDX + "#include <simdjson.h>\n")
        self.write("src/ledger/ledger.h", HEADER + '#include "model/trace.h"\n')
        self.write("src/cli/main.cc", SPDX + "#include <CLI/CLI.hpp>\n"
                   '#include "model/other.h"\nint main() { exit(0); }\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, message):
        errors = Checker(self.root).run()
        self.assertEqual(len(errors), 1, errors)
        self.assertIn(message, errors[0])

    def expect_planted(self, name, text, message):
        self.write(name, text)
        self.expect(message)
        (self.root / name).unlink()

    def test_a_clean_tree_passes(self):
        self.assertEqual(Checker(self.root).run(), [])

    def test_includes_against_the_table(self):
        for folder, header in (("base", "model/trace.h"),
                               ("ledger", "model/other.h"),
                               ("model", "ledger/ledger.h")):
            self.expect_planted(f"src/{folder}/x.cc",
                                f'{SPDX}\n  #  include "{header}"\n',
                                f'src/{folder}/x.cc:3: {folder} may not')

    def test_own_includes_are_written_from_src(self):
        for header in ("a.h", "../base/a.h", "base/../base/a.h", "base/no.h"):
            self.expect_planted("src/base/x.cc",
                                f'{SPDX}#include "{header}"\n', "not a file")

    def test_third_party_headers(self):
        for name, header, message in (
                ("model/x.h", "simdjson.h", "in a header"),
                ("model/x.h", "nlohmann/json.hpp", "in a header"),
                ("base/x.h", "nlohmann/json_fwd.hpp", "is for model only"),
                ("base/x.cc", "simdjson.h", "is for model only"),
                ("base/x.cc", "CLI/App.hpp", "is for cli only"),
                ("base/x.cc", "boost/any.hpp", "not in the table")):
            self.expect_planted(f"src/{name}",
                                f"{HEADER}#include <{header}>\n", message)

    def test_printing_and_exiting(self):
        for code in ("std::cout << 1;", "fmt::print(x);", "printf(x);",
                     "std::exit(1);", "abort ();", "fwrite(a, 1, 2, stdout);",
                     "x = 1'000; std::terminate();", "fputs(x, f);"):
            self.expect_planted("src/base/x.cc", f"{SPDX}void f() {{ {code} }}",
                                "only cli prints or exits")

    def test_comments_and_strings_do_not_print(self):
        self.write("src/base/x.cc", SPDX + "// std::cout\n/* exit(1)\n*/\n"
                   'auto s = "abort()"; auto r = R"x(exit(1))x"; int snprintf_;'
                   "\nvoid on_exit_(); int printf_count; char c = '\"';\n")
        self.assertEqual(Checker(self.root).run(), [])

    def test_a_folder_without_a_row(self):
        self.expect_planted("src/new/x.h", HEADER, "src/new: no row")

    def test_a_row_without_a_folder(self):
        self.write("docs/architecture.md", TABLES.replace(
            "| cli | x", "| gone | x | base |\n| cli | x"))
        self.expect("no src/gone")

    def test_a_row_that_names_one_below(self):
        self.write("docs/architecture.md",
                   TABLES.replace("| base | x | |", "| base | x | cli |"))
        self.expect("not a row above it")

    def test_missing_tables(self):
        self.write("docs/architecture.md", "")
        self.assertIn("docs/architecture.md: a table is missing",
                      Checker(self.root).run())

    def test_layout_and_first_lines(self):
        for name, text, message in (
                ("base/x.cc", "int x;\n", "SPDX"),
                ("base/x.h", SPDX, "#pragma once"),
                ("x.h", HEADER, "src/FOLDER/NAME"),
                ("base/deep/x.h", HEADER, "src/FOLDER/NAME"),
                ("base/x.cpp", SPDX, "src/FOLDER/NAME")):
            self.expect_planted(f"src/{name}", text, message)


if __name__ == "__main__":
    unittest.main()
