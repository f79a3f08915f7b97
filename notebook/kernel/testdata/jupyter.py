"""Drives the kernel as a front end does: FOLDER with kernels/euryale, NOTEBOOK to run twice."""
import json, os, re, sys, threading, time

folder, notebook = sys.argv[1:]
os.environ["JUPYTER_PATH"] = folder
from jupyter_client.manager import KernelManager

manager = KernelManager(kernel_name="euryale")
manager.start_kernel()


def connect():
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return client


def run(client, code, interrupt_after=None):
    """Returns the reply's status, the error, and the texts of all outputs."""
    outputs = []

    def hook(message):
        kind, content = message["msg_type"], message["content"]
        if kind in ("display_data", "update_display_data", "execute_result"):
            outputs.append(content["data"].get("text/plain", ""))
        elif kind == "stream":
            outputs.append(content["text"])

    timer = None
    if interrupt_after:
        timer = threading.Timer(interrupt_after, manager.interrupt_kernel)
        timer.start()
    reply = client.execute_interactive(code, output_hook=hook, timeout=120)["content"]
    if timer:
        timer.join()
    return reply["status"], reply.get("evalue", ""), outputs


client = connect()
run(client, 'import ("time"; nb "github.com/euryale-dev/euryale/notebook")\nx := 41')

begin = time.time()
status, error, _ = run(client, "time.Sleep(60 * time.Second)\nx = 0", interrupt_after=0.5)
print("sleep:", error if status == "error" and time.time() - begin < 30 else (status, error))

status, error, _ = run(client, "n := 0\nfor { n++ }", interrupt_after=0.5)
print("loop:", error if status == "error" else (status, error))

manager.interrupt_kernel()  # while no cell runs: the next one is not meant
time.sleep(0.2)
status, error, outputs = run(client, "x + 1")
print("after:", outputs[-1] if outputs else (status, error))

status, error, outputs = run(client, 'long := nb.DemoG2().Sample("single", nb.Settings{Seed: 1, Draws: 3000000})\nlong', interrupt_after=1.5)
told = outputs[-1] if outputs else error
print("sampling:", "keeps its draws" if status == "ok" and "interrupted with" in told else (status, told))


def book(client):
    results = []
    for cell in json.load(open(notebook))["cells"]:
        if cell["cell_type"] == "code":
            status, error, outputs = run(client, "".join(cell["source"]))
            assert status == "ok", error
            assert "warning" not in "".join(outputs), outputs
            results.append(re.sub(r" gradients, [0-9.e+-]+ s\b", "", outputs[-1]))  # but for times
    return results


first = book(client)
second = book(client)
print("twice:", "same" if first == second else [(a, b) for a, b in zip(first, second) if a != b])

client.stop_channels()
manager.restart_kernel()
client = connect()
status, error, _ = run(client, "x")
third = book(client)
print("restart:", "ok" if status == "error" and third == first else (status, error))
print("notebook:", len(first), "cells")
client.stop_channels()
manager.shutdown_kernel(now=True)
