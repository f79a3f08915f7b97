// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import "github.com/euryale-dev/euryale/data/hdf5"

// openAPSOld reads the lists of a file whose matrices are in exchange/C2T_all.
func (f *File) openAPSOld(h *hdf5.File) error {
	if err := f.open(h, oldMaps, func(string) bool { return true }); err != nil {
		return err
	}
	q, err := list(h, f.Name, "/xpcs/dqlist")
	if err != nil {
		return err
	}
	phi, err := list(h, f.Name, "/xpcs/dphilist")
	if err != nil {
		return err
	}
	keys := f.source.(*hdf5Source).keys
	if len(q) != len(phi) || len(q) != len(keys) {
		return bad(f.Name, oldMaps, "it has %d matrices, but /xpcs/dqlist has %d values of q and /xpcs/dphilist %d angles; want equal numbers", len(keys), len(q), len(phi))
	}
	for i, k := range keys {
		f.Bins = append(f.Bins, Bin{k, i + 1, q[i], phi[i]})
	}
	f.Step, err = step(h, f.Name, []string{"/measurement/instrument/detector/exposure_period", "/entry/instrument/detector_1/frame_time"},
		[]string{"/xpcs/stride_frames"}, []string{"/xpcs/avg_frames"})
	return err
}
