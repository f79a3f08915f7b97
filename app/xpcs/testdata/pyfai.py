"""Makes pyfai.json: geometries as pyFAI saves them, with q (1/angstrom) and chi (degrees) of some pixels.

Made with pyFAI 2026.9.0: Geometry.save, qArray and chiArray.
"""
import json
import logging
import os

import numpy as np
from pyFAI.detectors import Detector, detector_factory
from pyFAI.geometry import Geometry

logging.disable(logging.CRITICAL)
r = np.random.default_rng(5)
cases = []
for i in range(12):
    if i < 10:
        orientation = [3, 3, 1, 2, 4][i % 5]
        detector = Detector(7.5e-5, 7.5e-5, max_shape=(40, 60), orientation=orientation)
    else:
        orientation = [3, 2][i % 2]
        detector = detector_factory(["Pilatus300k", "Eiger2CdTe_500k"][i % 2], config={"orientation": orientation})
    rot = [0, 0, 0.4] if i == 0 else [float(v) for v in np.round(r.uniform(-0.6, 0.6, 3), 3)]
    g = Geometry(0.2, 0.0012, 0.0021, *rot, detector=detector, wavelength=1.2e-10)
    if os.path.exists("a.poni"):
        os.remove("a.poni")
    g.save("a.poni")
    height, width = detector.max_shape
    rows, cols = r.integers(0, height, 6), r.integers(0, width, 6)
    q, chi = g.qArray() / 10, np.degrees(g.chiArray())  # of qArray 1/nm
    with open("a.poni") as f:
        text = "".join(line for line in f if not line.startswith("#"))
    cases.append(dict(poni=text, orientation=orientation, row=rows.tolist(), col=cols.tolist(), q=q[rows, cols].tolist(), chi=chi[rows, cols].tolist()))
os.remove("a.poni")
with open("pyfai.json", "w") as f:
    json.dump(cases, f, indent=0)
