#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The case runner notices what it is there to notice."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).resolve().parent / "run_cases.py"


class RunCases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_text(self, text, *options):
        """(exit code, output, the case after the run)"""
        case = self.folder / "a.case"
        case.write_text(text)
        done = subprocess.run(
            [sys.executable, RUNNER, "--bin", "/bin/true", *options, case],
            env=dict(os.environ, INFERDIFF_TRACES=str(self.folder)),
            stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout, case.read_text()

    def expect(self, code, text):
        got, output, _ = self.run_text(text)
        self.assertEqual(got, code, output)
        return output

    def test_right_output_passes(self):
        self.expect(0, "# Why.\n# file a\nx\n\n$ cat a\nx\n")

    def test_wrong_output_fails_with_a_diff_and_the_way_out(self):
        output = self.expect(1, "# Why.\n# file a\nx\n\n$ cat a\ny\n")
        self.assertIn("-y\n+x\n", output)
        self.assertIn("--update", output)

    def test_missing_output_fails(self):
        self.expect(1, "# Why.\n$ true\nx\n")

    def test_unexpected_output_fails(self):
        self.expect(1, "# Why.\n# file a\nx\n$ cat a\n")

    def test_unexpected_exit_code_fails(self):
        self.expect(1, "# Why.\n$ false\n")
        self.expect(0, "# Why.\n$ false\nexit: 1\n")
        self.expect(1, "# Why.\n$ true\nexit: 1\n")

    def test_unexpected_stderr_fails(self):
        self.expect(1, "# Why.\n$ cat nowhere\nexit: 1\n")
        self.expect(0, "# Why.\n$ cat nowhere\nstderr:\n%any%\nexit: 1\n")

    def test_placeholders(self):
        for right, wrong in (("n=%int%", "n=%int%,"), ("n=%float%", "%int%"),
                             ("%any%", "%any%x"), ("n=%hex%", "m=%hex%")):
            body = "# Why.\n# file a\nn=12\n$ cat a\n"
            self.expect(0, body + right + "\n")
            self.expect(1, body + wrong + "\n")

    def test_lines_placeholder(self):
        body = "# Why.\n# file a\n1\n2\n3\n$ cat a\n"
        self.expect(0, body + "1\n%lines%\n3\n")
        self.expect(0, body + "1\n2\n3\n%lines%\n")
        self.expect(1, body + "1\n%lines%\n4\n")

    def test_update_keeps_placeholders_and_escapes(self):
        code, _, text = self.run_text(
            "# Why.\n# file a | expand\n1\n\\x24 x\n\n$ cat a\n%int%\n",
            "--update")
        self.assertEqual(code, 0)
        self.assertTrue(text.endswith("$ cat a\n%int%\n\\$ x\n"), text)
        self.expect(0, text)

    def test_input_filters(self):
        self.expect(0, "\n".join([
            "# Why.",
            "# file a | expand | chomp", r"<<%{i*2+1}, * 3>>\x41",
            "# file b = a a | gzip | gunzip",
            "# file c | hex", "41 42",
            "# file d = c | repeat 2 | truncate -1 | flip 0",
            "# file e = a | zstd",
            "$ cat a", "1,3,5,A",
            "$ cat b", "1,3,5,A1,3,5,A",
            "$ cat c", "AB",
            "$ cat d", r"\xbeBA",
            "$ zstd -dqc e", "1,3,5,A", ""]))

    def test_pipe_json_and_redirect(self):
        self.expect(0, "\n".join([
            "# Why.",
            "# file a", '{"c": [{"n": "x", "v": 1}, {"n": "y", "v": 2}]}',
            "$ cat a | json c.n=y.v c.*.v", "c.n=y.v: 2", "c.*.v: 1",
            "c.*.v: 2",
            "$ cat a | json c.3", "stderr:", "json: nothing at c.3", "exit: 1",
            "$ cat a > b", "$ cmp a b", ""]))

    def test_absent_trace_skips(self):
        output = self.expect(77, "# Why.\nneeds: nowhere.json\n$ false\n")
        self.assertIn("nowhere.json", output)

    def test_present_trace_runs(self):
        (self.folder / "h200").mkdir()
        (self.folder / "h200/x").write_text("x\n")
        self.expect(0, "# Why.\nneeds: h200/x\n$ cat traces/h200/x\nx\n")

    def test_malformed_cases_fail(self):
        for text in ("", "$ true\n", "# Why.\n", "# Why.\nx\n$ true\n",
                     "# Why.\n# file ../a\n$ true\n",
                     "# Why.\n# file a | nonsense\n$ true\n"):
            self.expect(1, text)

    def test_no_case_at_all_fails(self):
        done = subprocess.run(
            [sys.executable, RUNNER, "--bin", "/bin/true", self.folder],
            stdout=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
