#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs shards under Slurm: four tasks on this machine, against one process.

    tests/slurm_test.py --bin build/release/inferdiff [--keep]

Starts munged, slurmctld and slurmd of Debian's slurm-wlm with a configuration,
keys and state in a temporary folder, and stops all three. Then

  - examples/slurm/ledger.sbatch as it is: its ledger is that of one process,
    byte for byte, and so are the reports made of it;
  - one of four tasks is killed while it writes: it leaves no file, the others
    leave theirs, merge names the missing part, and the task runs again alone;
  - more tasks than files: some parts are empty.

Needs root and the packages slurm-wlm and munge; exits 77, saying so, without.
"""
import argparse
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SBATCH = HERE.parent / "examples/slurm/ledger.sbatch"
RANKS = 10
START_SECONDS = 60  # a loaded machine takes its time
DAEMONS = ("munged", "slurmctld", "slurmd")

# No accounting and no cgroups, which containers do not have; nodes may claim
# more processors than there are.
CONFIGURATION = """
ClusterName=inferdiff
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None)


def die_with_us():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def reap_orphans():
    """slurmd leaves its steps to us: in a container nobody else may wait."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """One node that is its own controller, until the with block ends."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.environment = dict(os.environ, SLURM_CONF=str(folder / "conf"))
        # Where the test itself runs under Slurm.
        for name in list(self.environment):
            if name.startswith(("SLURM_", "SBATCH_")) and name != "SLURM_CONF":
                del self.environment[name]

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        folder = self.folder
        for name in ("state", "spool"):
            (folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        controller_port, node_port = free_ports(2)
        (folder / "conf").write_text(CONFIGURATION.format(
            host=host, folder=folder, controller_port=controller_port,
            node_port=node_port))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.daemon("munged", "--foreground", "--force",
                    f"--key-file={key}", f"--socket={folder}/munge.socket",
                    f"--pid-file={folder}/munged.pid",
                    f"--seed-file={folder}/munge.seed",
                    f"--log-file={folder}/munged.log", "--num-threads=2")
        self.wait_for(lambda: (folder / "munge.socket").exists(), "munged")
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D", "-N", host)
        self.wait_for(self.is_idle, "the node")

    def daemon(self, name, *arguments):
        with open(self.folder / f"{name}.out", "wb") as out:
            self.processes.append(subprocess.Popen(
                [name, *arguments], stdout=out, stderr=out,
                stdin=subprocess.DEVNULL, env=self.environment,
                preexec_fn=die_with_us))

    def is_idle(self):
        done = self.run("sinfo", "--noheader", "--format=%T", check=False)
        return done.stdout.strip() == "idle"

    def wait_for(self, holds, what):
        end = time.monotonic() + START_SECONDS
        while not holds():
            dead = [p for p in self.processes if p.poll() is not None]
            if dead or time.monotonic() > end:
                raise RuntimeError(f"{what} does not come up:\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}"
            for path in sorted(self.folder.glob("*.log")) +
            sorted(self.folder.glob("*.out")))

    def run(self, *command, check=True, **environment):
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True,
            env=dict(self.environment, **environment), timeout=120)
        if check and done.returncode != 0:
            raise RuntimeError(f"{command} exits {done.returncode}\n"
                               f"{done.stdout}{done.stderr}\n{self.logs()}")
        return done

    def __exit__(self, *_):
        # The node first, then what it talks to.
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        reap_orphans()


def make_traces(folder):
    subprocess.run([sys.executable, HERE / "workload.py", folder / "made",
                    "--ranks", str(RANKS), "--steps", "8", "--clock",
                    "1:350000", "--inject", "host:1:3:400000"], check=True,
                   stdout=subprocess.DEVNULL)
    return folder / "made/kineto"


def part(parts, shard, of):
    return parts / f"ledger-{shard:05}-of-{of:05}.ledger"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class Test:
    def __init__(self, cluster, binary, folder):
        self.cluster, self.binary, self.folder = cluster, binary, folder
        self.traces = make_traces(folder)
        self.whole = folder / "whole.ledger"
        self.report = folder / "whole.json"
        cluster.run(binary, "ledger", self.traces, "-o", self.whole, "-o",
                    self.report)

    def expect_whole(self, parts, what):
        merged, report = self.folder / "m.ledger", self.folder / "m.json"
        self.cluster.run(self.binary, "merge", parts, "-o", merged, "-o",
                         report)
        for ours, theirs in ((merged, self.whole), (report, self.report)):
            if ours.read_bytes() != theirs.read_bytes():
                raise RuntimeError(f"{what}: other bytes than one process")
        print(f"{what}: the same bytes as one process", flush=True)

    def the_documented_job(self):
        parts, whole = self.folder / "job", self.folder / "job.ledger"
        log = self.folder / "job.log"
        self.cluster.run("sbatch", "--wait", "--ntasks=4", f"--output={log}",
                         f"--chdir={self.folder}", SBATCH, self.traces, parts,
                         whole, INFERDIFF=str(self.binary))
        if names(parts) != [part(parts, i, 4).name for i in range(4)]:
            raise RuntimeError(f"parts: {names(parts)}\n{log.read_text()}")
        if whole.read_bytes() != self.whole.read_bytes():
            raise RuntimeError("the job's ledger has other bytes")
        self.expect_whole(parts, "sbatch, four tasks")

    def a_killed_task(self):
        """Beyond its first kilobyte the file of task 2 is the task's end."""
        parts = self.folder / "killed"
        command = (f'[ "$SLURM_PROCID" != 2 ] || ulimit -f 1; '
                   f'exec "{self.binary}" ledger "{self.traces}" '
                   f'--shard auto -o "{parts}/"')
        done = self.cluster.run("srun", "--ntasks=4", "--kill-on-bad-exit=0",
                                "bash", "-c", command, check=False)
        if done.returncode == 0:
            raise RuntimeError("the task was not killed")
        left = [part(parts, i, 4).name for i in (0, 1, 3)]
        ledgers = [name for name in names(parts) if name.endswith(".ledger")]
        if ledgers != left:
            raise RuntimeError(f"after a kill there are {names(parts)}")
        done = self.cluster.run(self.binary, "merge", parts, check=False)
        if done.returncode != 2 or "missing: part 2 (" not in done.stderr:
            raise RuntimeError(f"merge says {done.returncode}: {done.stderr}")
        self.cluster.run("srun", "--ntasks=1", self.binary, "ledger",
                         self.traces, "--shard", "2/4", "-o", f"{parts}/")
        self.expect_whole(parts, "a killed task, run again alone")

    def more_tasks_than_files(self):
        parts = self.folder / "many"
        self.cluster.run("srun", "--ntasks=16", "--overcommit", self.binary,
                         "ledger", self.traces, "--shard", "auto",
                         "--threads", "1", "-o", f"{parts}/")
        self.expect_whole(parts, "sixteen tasks for ten files")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if os.geteuid() != 0:
        skip("slurmd starts tasks as root only")
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for name in DAEMONS + ("srun", "sbatch", "sinfo"):
        if shutil.which(name) is None:
            skip(f"no {name}: apt-get install slurm-wlm munge")
    # A short path: that of a socket has 107 bytes.
    with tempfile.TemporaryDirectory(prefix="slurm", dir="/tmp") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with Cluster(folder) as cluster:
            test = Test(cluster, options.bin.resolve(), folder)
            test.the_documented_job()
            test.a_killed_task()
            test.more_tasks_than_files()


if __name__ == "__main__":
    main()
