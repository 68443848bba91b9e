# SPDX-License-Identifier: Apache-2.0
"""The formats by name. Each has write(ranks, folder, compress, merged), which
returns the path of each rank's file."""

from workloads import write_kineto

FORMATS = {
    "kineto": write_kineto,
}
