# SPDX-License-Identifier: Apache-2.0
"""Made-up but engine-like workloads, written as traces of every format."""
