"""Does work on request, for the races of internal/peer.

A script prepares its work and hands a function to serve, which tells the version of
what does the work and then, for each line of standard input that holds a number, does
it that often and answers with a line of JSON: seconds by the clock and of processor,
units of work and a number that others must find too.
"""

import json
import os
import resource
import sys
import time

THREADS = int(os.environ.get("PEER_THREADS", "1"))
ROOT = os.environ.get("PEER_ROOT", ".")

if THREADS == 1 and hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def cpu():
    """Seconds of processor of this process and of the children it has waited for."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        use = resource.getrusage(who)
        total += use.ru_utime + use.ru_stime
    return total


def asked():
    """The input of the race, which comes first."""
    return json.loads(sys.stdin.readline())


def serve(version, work):
    """work() returns units and check; units may be None for 1, check None for none.

    Units may be a function that counts them, whose time is not part of the work.
    """
    print(json.dumps({"ready": version}), flush=True)
    for line in sys.stdin:
        units, check = 0.0, None
        start, begin = time.perf_counter(), cpu()
        for _ in range(int(line)):
            done, check = work()
            if callable(done):
                counting, before = time.perf_counter(), cpu()
                done = done()
                start, begin = start + time.perf_counter() - counting, begin + cpu() - before
            units += 1.0 if done is None else done
        wall, used = time.perf_counter() - start, cpu() - begin
        print(json.dumps({"wall": wall, "cpu": used, "units": units, "check": check}), flush=True)
