"""Writes the files of this folder with NumPy (2.4.6 made the committed ones)."""
import json, os
import numpy as np
from numpy.lib import format as F

here = os.path.dirname(os.path.abspath(__file__))
at = lambda name: os.path.join(here, name)
inf, nan = np.inf, np.nan
vals = {
    'f8': [0, -0.0, 1.5, inf, -inf, nan], 'f4': [0, -1.25, 1e38, inf, 1e-45, nan], 'f2': [0, -1.5, 65504, inf, 6e-8, nan],
    'i8': [0, -1, 2**63 - 1, -2**63, 7, 8], 'i4': [0, -1, 2**31 - 1, -2**31, 7, 8], 'i2': [0, -1, 32767, -32768, 7, 8],
    'i1': [0, -1, 127, -128, 7, 8], 'u8': [0, 1, 2**63 - 1, 5, 7, 8], 'u4': [0, 1, 2**32 - 1, 5, 7, 8],
    'u2': [0, 1, 65535, 5, 7, 8], 'u1': [0, 1, 255, 5, 7, 8], 'b1': [0, 1, 1, 0, 0, 1],
    'c16': [0, 1 + 2j, -1.5j, complex(inf, 1), 3, 4], 'c8': [0, 1 + 2j, -1.5j, complex(inf, 1), 3, 4]}
want = {}


def num(x):
    x = float(x)
    return x if np.isfinite(x) else 'NaN' if x != x else 'Inf' if x > 0 else '-Inf'


def save(name, a, version=None):
    with open(at(name + '.npy'), 'wb') as f:
        F.write_array(f, a, version=version)
    flat = a.ravel(order='C')
    want[name] = {'shape': list(a.shape), 're': [num(v.real) for v in flat],
                  'im': [num(v.imag) for v in flat] if a.dtype.kind == 'c' else None,
                  'int': [str(int(v)) for v in flat] if a.dtype.kind in 'iu' else None}


for k, v in vals.items():
    a = np.array(v, dtype=k).reshape(2, 3)
    save(k + '_little', a.astype('<' + k))
    if k not in ('b1', 'i1', 'u1'):
        save(k + '_big', a.astype('>' + k))
a = np.arange(24.).reshape(2, 3, 4)
save('fortran', np.asfortranarray(a))
save('fortran_big', np.asfortranarray(a.astype('>f4')))
for v in (1, 2, 3):
    save('version%d' % v, a, version=(v, 0))
save('scalar', np.array(2.5))
save('empty', np.zeros(0))
save('one', np.array([7], dtype='i4'))
save('hollow', np.zeros((2, 0, 3), dtype='c8'))
json.dump(want, open(at('want.json'), 'w'), separators=(',', ':'))

np.savez_compressed(at('pair.npz'), a=np.arange(6, dtype='i8').reshape(2, 3), b=np.array(True))
np.savez(at('stored.npz'), a=np.arange(6.).reshape(2, 3))
# Refused: records, objects (pickles), text, unsigned numbers beyond int64.
np.save(at('refused_record.npy'), np.zeros(2, dtype=[('a', 'f8'), ('b', 'i4')]))
np.save(at('refused_object.npy'), np.array([{}, 1], dtype=object))
np.save(at('refused_text.npy'), np.array(['ab']))
np.save(at('refused_large.npy'), np.array([2**63], dtype='u8'))
