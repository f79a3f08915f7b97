// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Write writes correlations as a file in one of the layouts, for examples and tests. The matrices of
// HDF5 files become upper triangles in float32, as correlators write them; APSU and APSOld need frames
// from 1.
func Write(name string, layout Layout, c *Correlation) error {
	n := c.Frames()
	for k, m := range c.C2 {
		if len(c.Phi) != len(c.C2) || len(m) != n*n {
			return fmt.Errorf("homodyne: there are %d matrices, of which number %d has %d values, and %d angles: want a matrix of %d x %d frames for each angle", len(c.C2), k+1, len(m), len(c.Phi), n, n)
		}
	}
	switch {
	case len(c.C2) == 0:
		return fmt.Errorf("homodyne: there are no matrices to write: give one for each angle")
	case c.First != 1 && layout != NPZ:
		return fmt.Errorf("homodyne: the frames begin at %d, but the layout %s needs frames from 1", c.First, layout)
	}
	switch layout {
	case APSOld:
		return writeAPSOld(name, c)
	case APSU:
		return writeAPSU(name, c)
	case NPZ:
		return writeCache(name, c)
	}
	return fmt.Errorf("homodyne: there is no layout %q: want %s, %s or %s", layout, APSOld, APSU, NPZ)
}

// q returns the q of a bin, or that of all.
func (c *Correlation) q(k int) float64 {
	if k < len(c.Bins) && c.Bins[k].Q > 0 {
		return c.Bins[k].Q
	}
	return c.Q
}

// half returns the upper triangle.
func half(m []float64, n int) []float32 {
	out := make([]float32, n*n)
	for i := range n {
		for j := i; j < n; j++ {
			out[i*n+j] = float32(m[i*n+j])
		}
	}
	return out
}

func writeAPSOld(name string, c *Correlation) error {
	w, err := hdf5.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	n, bins := c.Frames(), len(c.C2)
	q := make([]float64, bins)
	for k, m := range c.C2 {
		q[k] = c.q(k)
		w.Write(fmt.Sprintf("%s/g2_%05d", oldMaps, k+1), half(m, n), hdf5.Layout{Shape: []int{n, n}})
	}
	w.Write("/xpcs/dqlist", q, hdf5.Layout{Shape: []int{1, bins}})
	w.Write("/xpcs/dphilist", c.Phi, hdf5.Layout{Shape: []int{1, bins}})
	w.Write("/measurement/instrument/detector/exposure_period", []float64{c.Step}, hdf5.Layout{Shape: []int{1, 1}})
	return w.Close()
}

// writeAPSU places the bins in the grid of their q and azimuths, in which cells may stay empty.
func writeAPSU(name string, c *Correlation) error {
	n := c.Frames()
	var qs []float64
	phis := slices.Clone(c.Phi)
	for k := range c.C2 {
		qs = append(qs, c.q(k))
	}
	slices.Sort(qs)
	slices.Sort(phis)
	qs, phis = slices.Compact(qs), slices.Compact(phis)
	type place struct{ cell, bin int }
	var places []place
	for k := range c.C2 {
		i, _ := slices.BinarySearch(qs, c.q(k))
		j, _ := slices.BinarySearch(phis, c.Phi[k])
		places = append(places, place{i*len(phis) + j, k})
	}
	slices.SortFunc(places, func(a, b place) int { return a.cell - b.cell })
	w, err := hdf5.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	var cells, bins []int32
	for i, p := range places {
		if i > 0 && p.cell == places[i-1].cell {
			return fmt.Errorf("homodyne: there are two matrices at q = %g and an azimuth of %g: want one", c.q(p.bin), c.Phi[p.bin])
		}
		cells, bins = append(cells, int32(p.cell)), append(bins, int32(i+1))
		w.Write(fmt.Sprintf("%s/c2_%05d", newMaps, i+1), half(c.C2[p.bin], n), hdf5.Layout{Shape: []int{n, n}})
	}
	w.Write("/xpcs/twotime/processed_bins", bins, hdf5.Layout{})
	w.Write("/xpcs/qmap/dynamic_v_list_dim0", qs, hdf5.Layout{})
	w.Write("/xpcs/qmap/dynamic_v_list_dim1", phis, hdf5.Layout{})
	w.Write("/xpcs/qmap/dynamic_index_mapping", cells, hdf5.Layout{})
	w.Write("/xpcs/qmap/dynamic_num_pts", []int32{int32(len(qs)), int32(len(phis))}, hdf5.Layout{})
	w.Write("/entry/instrument/detector_1/frame_time", c.Step, hdf5.Layout{})
	return w.Close()
}

// writeCache writes what homodyne keeps of a file, and of which file it is if that exists.
func writeCache(name string, c *Correlation) error {
	z, err := createNPZ(name)
	if err != nil {
		return err
	}
	defer z.discard()
	n, bins := c.Frames(), len(c.C2)
	q := make([]float64, bins)
	variance := 0.0
	for k := range q {
		q[k] = c.q(k)
		variance += (q[k] - c.Q) * (q[k] - c.Q) / float64(bins)
	}
	m := map[string]any{"config_wavevector_q": c.Q, "actual_wavevector_q": c.Q, "q_variance": math.Sqrt(variance), "q_count": bins, "phi_count": bins,
		"start_frame": c.First, "end_frame": c.Last, "cache_version": "2.0", "selective_q_caching": true}
	if st, err := os.Stat(c.File); c.File != "" && err == nil {
		if path, err := filepath.Abs(c.File); err == nil {
			m["source_file"], m["source_bytes"], m["source_modified"] = path, st.Size(), st.ModTime().UTC().Format(time.RFC3339Nano)
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	t := Clock{Window: true}.Times(c.First, c.Last, c.Step)
	z.floats("wavevector_q_list", q, bins)
	z.floats("phi_angles_list", c.Phi, bins)
	z.floats("t1", t, n)
	z.floats("t2", t, n)
	z.cube("c2_exp", c.C2, n)
	z.text("cache_metadata_json", string(text))
	return z.close()
}
