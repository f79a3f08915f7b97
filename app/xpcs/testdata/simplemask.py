"""Makes simplemask.zip: metadata of the beamlines 8-ID-I and 9-ID-D, and the partitions, masks and geometries that pySimpleMask makes of them.

Made with pySimpleMask 0.4.5, h5py 3.16.0, numpy 2.4.6.
"""
import json
import logging
import os
import tempfile
import zipfile

import h5py
import numpy as np
from pysimplemask.core.model import SimpleMaskModel

logging.disable(logging.CRITICAL)
r = np.random.default_rng(6)
SHAPE = (48, 60)

eight = {
    "incident_beam/incident_energy": 10.9, "detector_1/distance": 4.1, "detector_1/flightpath_swing": 2.0, "detector_1/flightpath_swing_vertical": -1.5,
    "detector_1/x_pixel_size": 7.5e-5, "detector_1/y_pixel_size": 7.5e-5, "detector_1/position_x": 0.0103, "detector_1/position_y": 0.0202,
    "detector_1/beam_center_position_x": 0.01, "detector_1/beam_center_position_y": 0.02, "detector_1/beam_center_x": 21.0, "detector_1/beam_center_y": 30.5,
}
nine = {
    "incident_beam/incident_energy": 10.92, "detector_1/current_stage_z": 0.228165, "detector_1/x_pixel_size": 1.72e-4, "sample:rotation_x": 0.17,
    "detector_1/count_time": 0.5, "detector_1/current_stage_x": 0.0117, "detector_1/current_stage_y": 0.0301, "detector_1/rotation_z": 0.0,
    "detector_1/direct_beam_image_x": 28.0, "detector_1/direct_beam_image_y": 40.0, "detector_1/direct_beam_stage_x": 0.0115, "detector_1/direct_beam_stage_y": 0.0305,
    "detector_1/specular_beam_image_x": 28.2, "detector_1/specular_beam_image_y": 32.0, "detector_1/specular_beam_stage_x": 0.0115, "detector_1/specular_beam_stage_y": 0.0305,
}
cases = {"8id": ("APS_8IDI", eight, "q-phi"), "9id": ("APS_9IDD", nine, "qr-qz"), "9id_turned": ("APS_9IDD", nine | {"detector_1/rotation_z": 180.0}, "qr-qz")}

with zipfile.ZipFile("simplemask.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    for name, (beamline, metadata, mode) in cases.items():
        with tempfile.TemporaryDirectory() as dir:
            frames, meta = os.path.join(dir, "a.h5"), os.path.join(dir, "a_metadata.hdf")
            with h5py.File(frames, "w") as f:
                f["entry/data/data"] = r.poisson(3, (4,) + SHAPE).astype("u2")
            with h5py.File(meta, "w") as f:
                for key, v in metadata.items():
                    f["entry/" + ("sample/" + key[7:] if key.startswith("sample:") else "instrument/" + key)] = v
            model = SimpleMaskModel()
            assert model.read_data(frames, beamline=beamline), name
            model.mask = np.ones(SHAPE, bool)
            model.mask[:5, 7:11] = False
            model.compute_partition(mode=mode, dq_num=3, sq_num=9, dp_num=2, sp_num=4)
            model.save_mask(os.path.join(dir, "mask.tif"))
            model.save_partition(os.path.join(dir, "qmap.hdf"))
            for file in ("a_metadata.hdf", "mask.tif", "qmap.hdf"):
                z.write(os.path.join(dir, file), f"{name}/{file}")
            rows, cols = r.integers(0, SHAPE[0], 6), r.integers(0, SHAPE[1], 6)
            maps = {k: np.asarray(v)[rows, cols].tolist() for k, v in model.qmap.items()}
            known = {k: (v if isinstance(v, str) else float(v)) for k, v in model.dset.metadata.items() if k != "meta_fname"} if hasattr(model.dset, "metadata") else {}
            z.writestr(f"{name}/values.json", json.dumps({"row": rows.tolist(), "col": cols.tolist(), "maps": maps, "metadata": known, "kept": int(model.mask.sum())}))
            print(name, {k: (v[0]) for k, v in maps.items()}, known)
