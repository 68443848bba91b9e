# SPDX-License-Identifier: Apache-2.0
"""The formats by name: functions (ranks, folder, compress, merged) that return
the path of each rank's file."""

from workloads import write_kineto, write_nsys, write_rocpd, write_rocprof, \
    write_rpd


def _nsys(old):
    def write(ranks, folder, compress=False, merged=False):
        del compress
        # The few columns of the oldest exports do not tell processes apart.
        return write_nsys.write(ranks, folder, old, merged and not old)
    return write


def _csv(old):
    def write(ranks, folder, compress=False, merged=False):
        del compress, merged  # a file set a process, plain text
        return write_rocprof.write_csv(ranks, folder, old)
    return write


def _json(ranks, folder, compress=False, merged=False):
    del compress
    return write_rocprof.write_json(ranks, folder, merged)


FORMATS = {
    "kineto": write_kineto.write,
    "nsys": _nsys(old=False),
    "nsys-old": _nsys(old=True),
    "rocprof-csv": _csv(old=False),
    "rocprof-csv-old": _csv(old=True),
    "rocprof-json": _json,
    "rocpd": write_rocpd.write,
    "rpd": write_rpd.write,
}
