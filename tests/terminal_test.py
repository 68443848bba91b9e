#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Colour and width follow the terminal: the program on a pseudo-terminal.

    tests/terminal_test.py --bin INFERDIFF

Colour needs a terminal, and neither NO_COLOR nor TERM=dumb. A table is as wide
as the terminal, from 80 to 100 columns. What is printed is otherwise the same.
"""
import argparse
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios
import unittest

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples" / "decode-h200"
ESCAPE = re.compile("\x1b\\[[0-9;]*m")
COMMAND = ["compare", str(EXAMPLES / "library.trace.json.gz"), "--",
           str(EXAMPLES / "compiled.trace.json.gz")]
binary = ""


def environment(changes):
    variables = {key: value for key, value in os.environ.items()
                 if key not in ("NO_COLOR", "TERM")}
    return {**variables, "TERM": "xterm", **changes}


def on_terminal(arguments=COMMAND, columns=100, **changes):
    """What the program writes to a terminal, newlines as they were."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ,
                struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([binary, *arguments], stdout=follower,
                               stderr=subprocess.PIPE, stdin=follower,
                               env=environment(changes))
    os.close(follower)
    written = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the program has closed its end
            break
        if not part:
            break
        written += part
    os.close(leader)
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0, errors
    return written.decode().replace("\r\n", "\n")


def piped(**changes):
    return subprocess.run([binary, *COMMAND], capture_output=True, text=True,
                          check=True, env=environment(changes)).stdout


class Terminal(unittest.TestCase):
    def test_colour_on_a_terminal_only(self):
        coloured = on_terminal()
        self.assertRegex(coloured, ESCAPE)
        self.assertNotRegex(piped(), "\x1b")
        self.assertEqual(ESCAPE.sub("", coloured), piped())

    def test_no_color(self):
        for value in ("1", "0", "yes"):
            self.assertEqual(on_terminal(NO_COLOR=value), piped())
        # The convention: an empty value does not count.
        self.assertRegex(on_terminal(NO_COLOR=""), ESCAPE)

    def test_dumb_terminal(self):
        self.assertNotRegex(on_terminal(TERM="dumb"), "\x1b")

    def test_other_formats_have_no_colour(self):
        for form in ("markdown", "json", "tsv"):
            text = on_terminal(COMMAND[:1] + ["--format", form] + COMMAND[1:])
            self.assertNotRegex(text, "\x1b")

    def test_width(self):
        for columns, limit in ((40, 80), (80, 80), (90, 90), (300, 100),
                               (0, 100)):
            lines = ESCAPE.sub("", on_terminal(columns=columns)).split("\n")
            self.assertLessEqual(max(map(len, lines)), limit, columns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    binary = parser.parse_args().bin
    unittest.main(argv=[__file__])
