"""Operations of the assembly calculus by https://github.com/dmitropolsky/assemblies.

    assembly.py c++ project|explicit|merge|associate N K P BETA
    assembly.py brain.py project N K P BETA

The repository is looked for in $EURYALE_ASSEMBLIES and in .peers/assemblies. The C++
engine is compiled with g++ -O2 into a temporary folder, with assembly.cc beside this.
"""

import os
import subprocess
import sys
import tempfile

from serve import ROOT, serve

engine, operation, *numbers = sys.argv[1:]
source = os.environ.get("EURYALE_ASSEMBLIES", os.path.join(ROOT, ".peers", "assemblies"))
if not os.path.isdir(source):
    sys.exit("no clone of github.com/dmitropolsky/assemblies in .peers/assemblies or $EURYALE_ASSEMBLIES")

if engine == "c++":
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "assembly")
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "assembly.cc")
        cpp = os.path.join(source, "cpp")
        subprocess.run(["g++", "-std=c++17", "-O2", "-I", cpp, here, os.path.join(cpp, "brain.cc"), "-o", program], check=True)
        sys.exit(subprocess.run([program, operation, *numbers]).returncode)

sys.path.insert(0, source)
from brain import Brain

n, k, p, beta = int(float(numbers[0])), int(float(numbers[1])), float(numbers[2]), float(numbers[3])


def work():
    brain = Brain(p)
    brain.add_stimulus("S", k)
    brain.add_area("A", n, k, beta)
    brain.project({"S": ["A"]}, {})
    for _ in range(24):
        brain.project({"S": ["A"]}, {"A": ["A"]})
    return None, None


serve("brain.py", work)
