// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/peer"
)

// viewer opens a result with the class of pyXpcsViewer and prints what it shows.
const viewer = `
import json, sys, numpy as np
from pyxpcsviewer.core.xpcs_file import XpcsFile
f = XpcsFile(sys.argv[1])
q, tel, g2, err, labels = f.get_g2_data()
flat = lambda v: np.asarray(v, float).ravel().tolist()
print(json.dumps({"label": f.label, "delay": flat(f.t_el), "g2": flat(f.g2), "err": flat(f.g2_err), "q": flat(q), "labels": list(labels),
    "saxs": flat(f.saxs_1d["Iq"])[:len(f.sqlist)], "sq": flat(f.sqlist), "mask": flat(f.mask), "dqmap": flat(f.dqmap), "trace": flat(f.Int_t[1])}))
`

// pyXpcsViewer opens what correlate and average write, whether or not parts were asked for, and shows the same numbers and labels.
func TestViewerOpensResults(t *testing.T) {
	py := peer.Python(t, "h5py", "pyxpcsviewer")
	correlated(t)
	if code, _, stderr := apptest.Do(t, strings.Fields("average a_results.hdf mean_results.hdf --all")...); code != 0 {
		t.Fatal(stderr)
	}
	for _, name := range []string{"a_results.hdf", "a_half_results.hdf", "mean_results.hdf"} {
		var got struct {
			Label                                           string
			Delay, G2, Err, Q, SAXS, SQ, Mask, DQMap, Trace []float64
			Labels                                          []string
		}
		out := py.Run(t, viewer, name)
		if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &got); err != nil {
			t.Fatal(err, out)
		}
		r, err := nexus.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		maps, err := r.ReadMaps()
		if err != nil {
			t.Fatal(err)
		}
		repaired, _ := r.Multitau.RepairedErr()
		mask, bins := make([]float64, len(maps.Mask)), make([]float64, len(maps.Dynamic))
		for i := range mask {
			if bins[i] = float64(maps.Dynamic[i]); maps.Mask[i] {
				mask[i] = 1
			}
		}
		for _, c := range []struct {
			what      string
			got, want []float64
		}{{"delays", got.Delay, r.Delays()}, {"g2", got.G2, r.Multitau.G2.Data}, {"errors", got.Err, repaired.Data}, {"q", got.Q, r.QMap.Qs()}, {"I(q)", got.SAXS, r.Profile().Lines.Row(0)},
			{"q of I(q)", got.SQ, r.QMap.Static.Axis0}, {"mask", got.Mask, mask}, {"bins", got.DQMap, bins}, {"trace", got.Trace, r.Trace.Mean}} {
			if !slices.EqualFunc(c.got, c.want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) || a != a && b != b }) {
				t.Errorf("%s: %s: the viewer has %v, we %v", name, c.what, c.got[:min(8, len(c.got))], c.want[:min(8, len(c.want))])
			}
		}
		for i, l := range got.Labels {
			if want := r.QMap.BinLabel(i + 1); l != want {
				t.Errorf("%s: label %q, want %q", name, l, want)
			}
		}
		if len(got.Labels) != r.Bins() || got.Label != r.Label() {
			t.Errorf("%s: labels %v of %s", name, got.Labels, got.Label)
		}
	}
}

// twotimeViewer opens a result of a two-time correlation with the class of pyXpcsViewer.
const twotimeViewer = `
import json, sys, numpy as np
from pyxpcsviewer.core.xpcs_file import XpcsFile
f = XpcsFile(sys.argv[1])
flat = lambda v: np.asarray(v, float).ravel().tolist()
c = f.get_twotime_c2(1)
_, image, _ = f.get_twotime_maps(scale="linear")
print(json.dumps({"type": list(f.atype), "bins": flat(f.c2_processed_bins), "c2": flat(c["c2_mat"]), "step": float(c["delta_t"]), "saxs": flat(f.saxs_1d["Iq"])[:len(f.sqlist)], "trace": flat(f.Int_t[1]), "image": flat(image)}))
`

// pyXpcsViewer opens a result of a two-time correlation alone, with its intensities.
func TestViewerOpensTwotime(t *testing.T) {
	py := peer.Python(t, "h5py", "pyxpcsviewer")
	correlated(t)
	if code, _, stderr := apptest.Do(t, strings.Fields("correlate a.h5 --qmap q.hdf --correlation twotime --bins 2,3 --suffix _two")...); code != 0 {
		t.Fatal(stderr)
	}
	var got struct {
		Type                         []string
		Bins, C2, SAXS, Trace, Image []float64
		Step                         float64
	}
	out := py.Run(t, twotimeViewer, "a_two_results.hdf")
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &got); err != nil {
		t.Fatal(err, out)
	}
	r, err := nexus.Open("a_two_results.hdf")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := r.ReadC2(1, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	image, err := r.ReadImage()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		what      string
		got, want []float64
	}{{"bins", got.Bins, []float64{2, 3}}, {"C2", got.C2, c.Data}, {"I(q)", got.SAXS, r.Profile().Lines.Row(0)}, {"trace", got.Trace, r.Trace.Mean}, {"image", got.Image, image.Data}} {
		if !slices.EqualFunc(v.got, v.want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Abs(b) || a != a && b != b }) {
			t.Errorf("%s: the viewer has %v, we %v", v.what, v.got[:min(8, len(v.got))], v.want[:min(8, len(v.want))])
		}
	}
	if len(got.Type) != 1 || got.Type[0] != "Twotime" || math.Abs(got.Step-c.Step) > 1e-12 {
		t.Errorf("%v with steps of %g s", got.Type, got.Step)
	}
}

// simplemask reads the mask and the partition with the classes of pySimpleMask.
const simplemask = `
import sys, h5py, numpy as np
from pysimplemask.core.mask import MaskFile
from pysimplemask.core.partition import check_consistency, hash_numpy_dict
from pysimplemask.core.reader.beamlines.xpcs_result import XPCSResultReader
q, result = sys.argv[1:3]
with h5py.File(q, "r") as f:
    g = {k: v[()] for k, v in f["/qmap"].items()}
assert check_consistency(g["dynamic_roi_map"], g["static_roi_map"], g["mask"])
m = MaskFile(shape=g["mask"].shape)
m.evaluate(fname=q, key="/qmap/mask")
assert np.array_equal(np.asarray(m.get_mask()), g["mask"].astype(bool)), "mask"
p = XPCSResultReader(result).saved_partition
for k in ("dynamic_roi_map", "static_roi_map", "mask", "dynamic_v_list_dim0", "dynamic_num_pts", "dynamic_index_mapping"):
    assert np.array_equal(np.asarray(p[k]), g[k]), k
for k in ("beam_center_x", "beam_center_y", "energy", "detector_distance", "pixel_size"):
    assert p[k] == float(g[k]), k
print("same", len(g))
`

// pySimpleMask takes our q maps, and the partition of a result as it was in the map.
func TestSimpleMaskReadsQMaps(t *testing.T) {
	py := peer.Python(t, "h5py", "pysimplemask")
	correlated(t)
	if out := py.Run(t, simplemask, "q.hdf", "a_results.hdf"); !strings.Contains(out, "same") {
		t.Error(out)
	}
}
