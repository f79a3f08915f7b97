"""Makes blosc2.json: contiguous frames of Blosc2 whose chunks have one value, which they do not store, and one of several values; with what is in them.

Made with blosc2 4.14.1, numpy 2.4.6.
"""
import base64
import json

import blosc2
import numpy as np

n = 300
count = np.arange(n, dtype="<i4") * 7
arrays = {
    "zeros": (blosc2.zeros(n, dtype="<i4", chunks=(n,), blocks=(n,)), np.zeros(n, "<i4")),
    "nan8": (blosc2.nans(n, dtype="<f8", chunks=(n,), blocks=(n,)), np.full(n, np.nan)),
    "nan4": (blosc2.nans(n, dtype="<f4", chunks=(n,), blocks=(n,)), np.full(n, np.nan, "<f4")),
    "full": (blosc2.full(n, 1234567, dtype="<i4", chunks=(n,), blocks=(n,)), np.full(n, 1234567, "<i4")),
    "count": (blosc2.asarray(count, chunks=(n,), blocks=(64,)), count),
    "square": (blosc2.asarray(count.reshape(15, 20), chunks=(15, 20), blocks=(4, 6)), count),
    "delta": (blosc2.asarray(count, chunks=(n,), blocks=(64,), cparams=blosc2.CParams(filters=[blosc2.Filter.DELTA, blosc2.Filter.SHUFFLE], filters_meta=[0, 0])), count),
}
out = {}
for name, (a, x) in arrays.items():
    out[name] = {"frame": base64.b64encode(a.to_cframe()).decode(), "values": base64.b64encode(x.tobytes()).decode()}
with open("blosc2.json", "w") as f:
    json.dump(out, f, indent=0)
