#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The made-up workloads keep what their truth promises."""

import filecmp
import os
import tempfile
import unittest

from workloads import defects, formats, names, schedules, workload


def build(**options):
    return workload.build(workload.Options(**{"steps": 4, "layers": 2} |
                                           options))


def waits_by_step(made, rank):
    """Step -> all that the rank waits in its collectives."""
    waits = {}
    for row in made.truth()["collectives"]:
        own = row["ranks"][str(rank)]
        waits[own["step"]] = waits.get(own["step"], 0) + own["wait_ns"]
    return waits


class Ranks(unittest.TestCase):
    def test_collectives_end_together(self):
        made = build(ranks=3, clocks={1: 350_000, 2: -70_000})
        self.assertGreater(len(made.collectives), 10)
        for index, collective in enumerate(made.collectives):
            ends = {op.end for rank in made.ranks for op in rank.ops
                    if op.collective == index}
            self.assertEqual(ends, {collective.end})
        for row in made.truth()["collectives"]:
            waits = [own["wait_ns"] for own in row["ranks"].values()]
            self.assertEqual(min(waits), 0)
            self.assertEqual(len(waits), 3)

    def test_clocks_shift_a_rank_alone(self):
        plain, shifted = build(ranks=2), build(ranks=2, clocks={1: 350_000})
        for rank, shift in ((0, 0), (1, 350_000)):
            before = plain.truth()["ranks"][rank]["steps"]
            after = shifted.truth()["ranks"][rank]["steps"]
            self.assertEqual([s["begin_ns"] + shift for s in before],
                             [s["begin_ns"] for s in after])

    def test_injected_waits_are_the_others(self):
        for kind, late, waiting in (("host", 1, 0), ("kernels", 0, 1)):
            amount = 600_000
            plain = build(ranks=2, overlap=False)
            made = build(ranks=2, overlap=False,
                         inject=((kind, late, 2, amount),))
            more = (waits_by_step(made, waiting)[2] -
                    waits_by_step(plain, waiting).get(2, 0))
            self.assertLess(abs(more - amount), amount // 20, kind)

    def test_a_late_entry_is_the_first_collectives_wait(self):
        made = build(ranks=2, entry={1: 95_000_000})
        self.assertGreater(waits_by_step(made, 0)[0], 94_000_000)
        self.assertLess(waits_by_step(made, 0)[1], 1_000_000)


class Schedules(unittest.TestCase):
    def test_every_category_is_there(self):
        seen = set()
        for schedule in schedules.SCHEDULES:
            for rank in build(schedule=schedule, ranks=2).ranks:
                seen |= {op.category for op in rank.ops}
        wanted = {names.kernel("amd", role).category for role in names.roles()}
        self.assertEqual(seen, wanted | {"memcpy"})

    def test_a_lane_runs_one_kernel_at_a_time(self):
        for schedule in schedules.SCHEDULES:
            for rank in build(schedule=schedule, ranks=2).ranks:
                until = {}
                for op in sorted(rank.ops, key=lambda op: op.start):
                    self.assertLessEqual(until.get(op.lane, 0), op.start)
                    self.assertLess(op.start, op.end)
                    until[op.lane] = op.end

    def test_dependent_launches_start_early(self):
        ops = build(dependent_launch=True).ranks[0].ops
        main = sorted((op for op in ops if op.lane == 7),
                      key=lambda op: op.start)
        early = [b for a, b in zip(main, main[1:]) if b.start < a.end]
        self.assertGreater(len(early), len(main) // 4)


class Defects(unittest.TestCase):
    def test_each_changes_what_it_says(self):
        clean = build().ranks[0]
        for name in defects.DEFECTS:
            made = build(defects=(name,))
            row, = made.truth()["defects"]
            rank = made.ranks[0]
            lost = len(clean.ops) - len(rank.ops)
            expected = {"missing": row.get("kernels"),
                        "lost-kernels": row.get("kernels"),
                        "duplicated": -row.get("ops", 0)}.get(name, 0)
            self.assertEqual(lost, expected, name)
            changed = (rank.ops != clean.ops or rank.calls != clean.calls or
                       rank.overheads != clean.overheads)
            self.assertTrue(changed, name)

    def test_a_burst_comes_after_the_markers(self):
        rank = build(defects=("burst",)).ranks[0]
        last = max(marker.end for marker in rank.markers)
        self.assertTrue(all(op.start > last for op in rank.ops if op.graph))


class Files(unittest.TestCase):
    def test_same_options_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, write in formats.FORMATS.items():
                paths = [write(build(vendor="either", ranks=2).ranks,
                               os.path.join(folder, name, run))[1]
                         for run in ("first", "second")]
                self.assertTrue(filecmp.cmp(*paths, shallow=False), name)

    def test_merged_files_hold_all_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            ranks = build(vendor="either", ranks=2).ranks
            for name in ("kineto", "nsys", "rocprof-json", "rocpd", "rpd"):
                paths = formats.FORMATS[name](
                    ranks, os.path.join(folder, name), merged=True)
                self.assertEqual(paths[0], paths[1], name)


if __name__ == "__main__":
    unittest.main()
