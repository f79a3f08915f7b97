// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// grid are the bins of a q map: those of the cells of a grid of q and phi that have pixels.
type grid struct {
	q, phi []float64
	cells  []int // of each bin; nil if every cell has one
	name   string
	group  string // of the q map
}

// openAPSU reads the lists of a file whose matrices are in xpcs/twotime/correlation_map.
func (f *File) openAPSU(h *hdf5.File) error {
	if err := f.open(h, newMaps, func(s string) bool { return strings.HasPrefix(s, "c2_") }); err != nil {
		return err
	}
	g, err := f.grid(h)
	if err != nil {
		return err
	}
	const processed = "/xpcs/twotime/processed_bins"
	bins, err := whole(h, f.Name, processed)
	if err != nil {
		return err
	}
	keys := f.source.(*hdf5Source).keys
	if len(bins) != len(keys) {
		return bad(f.Name, processed, "it lists %d bins, but %s has %d matrices; want equal numbers", len(bins), newMaps, len(keys))
	}
	for i, b := range bins {
		if at := slices.Index(bins[:i], b); at >= 0 {
			return bad(f.Name, processed, "it lists bin %d for the matrices %d and %d; want each bin once", b, at+1, i+1)
		}
		q, phi, err := g.bin(b)
		if err != nil {
			return err
		}
		f.Bins = append(f.Bins, Bin{keys[i], b, q, phi})
	}
	f.Step, err = step(h, f.Name, []string{"/entry/instrument/detector_1/frame_time"},
		[]string{"/xpcs/twotime/config/stride_frame"}, []string{"/xpcs/twotime/config/avg_frame"})
	return err
}

// grid reads the q map.
func (f *File) grid(h *hdf5.File) (*grid, error) {
	group := "/xpcs/qmap"
	if first(h, group+"/dynamic_v_list_dim0") == "" && h.Has("/qmap/dynamic_v_list_dim0") {
		group = "/qmap"
	}
	g := &grid{name: f.Name, group: group}
	var err error
	if g.q, err = list(h, f.Name, group+"/dynamic_v_list_dim0"); err != nil {
		return nil, err
	}
	if err := g.inverseAngstroms(h); err != nil {
		return nil, err
	}
	if key := group + "/dynamic_v_list_dim1"; h.Has(key) {
		if g.phi, err = list(h, f.Name, key); err != nil {
			return nil, err
		}
	} else {
		g.phi = []float64{0}
		f.Notes = append(f.Notes, key+" is not there: all bins are taken to be at an azimuth of 0")
	}
	if len(g.q)*len(g.phi) > mostList {
		return nil, bad(f.Name, group, "it has a grid of %d x %d; want at most %d cells", len(g.q), len(g.phi), mostList)
	}
	if key := group + "/dynamic_index_mapping"; h.Has(key) {
		if g.cells, err = whole(h, f.Name, key); err != nil {
			return nil, err
		}
		return g, g.measured(h)
	}
	f.Notes = append(f.Notes, fmt.Sprintf("%s/dynamic_index_mapping is not there: every one of the %d x %d cells is taken to have pixels", group, len(g.q), len(g.phi)))
	return g, nil
}

// measured replaces the q of the cells by the means of q over the pixels of their bins, over all azimuths, where the map has these: the centre of a
// cell is not its q where a beam stop or a gap hides a part of it.
func (g *grid) measured(h *hdf5.File) error {
	key := g.group + "/dynamic_bin_q"
	if !h.Has(key) {
		return nil
	}
	q, err := list(h, g.name, key)
	if err != nil || len(q) != len(g.cells) {
		return err
	}
	sum, bins := make([]float64, len(g.q)), make([]float64, len(g.q))
	for i, cell := range g.cells {
		if row := cell / len(g.phi); cell >= 0 && row < len(sum) && q[i] > 0 {
			sum[row], bins[row] = sum[row]+q[i], bins[row]+1
		}
	}
	for row, n := range bins {
		if n > 0 {
			g.q[row] = sum[row] / n
		}
	}
	return nil
}

// bin returns q and phi of a bin, which counts from 1 those cells that have pixels.
func (g *grid) bin(number int) (q, phi float64, err error) {
	total := len(g.q) * len(g.phi)
	cell := number - 1
	if g.cells != nil {
		if number < 1 || number > len(g.cells) {
			return 0, 0, bad(g.name, "/xpcs/twotime/processed_bins", "it names bin %d, but %s/dynamic_index_mapping lists %d bins; use the q map of this correlation", number, g.group, len(g.cells))
		}
		cell = g.cells[number-1]
	}
	if cell < 0 || cell >= total {
		return 0, 0, bad(g.name, g.group, "bin %d is in cell %d of a grid of %d x %d; use the q map of this correlation", number, cell, len(g.q), len(g.phi))
	}
	return g.q[cell/len(g.phi)], g.phi[cell%len(g.phi)], nil
}

// inverseAngstroms converts q where the map says that it is in other units.
func (g *grid) inverseAngstroms(h *hdf5.File) error {
	texts := func(name string) string {
		if d, err := h.Dataset(g.group + "/" + name); err == nil && d.Len() > 0 && d.Len() < 100 {
			if s, err := d.Strings(); err == nil {
				return s[0]
			}
		}
		return ""
	}
	if name := texts("map_names"); name != "" && !strings.HasPrefix(name, "q") {
		return bad(g.name, g.group+"/map_names", "the bins are over %.40q; want bins over q and phi", name)
	}
	unit := texts("map_units")
	s := strings.NewReplacer(" ", "", "^", "", "-1", "", "⁻¹", "", "1/", "", "$", "", "{", "", "}", "").Replace(strings.ToLower(unit))
	factor := map[string]float64{"": 1, "a": 1, "å": 1, "a\u030a": 1, "ang": 1, "angstrom": 1, "angstroms": 1, "nm": 10}[s]
	if factor == 0 {
		return bad(g.name, g.group+"/map_units", "it gives q in %.40q; correct the unit to 1/angstrom or 1/nm", unit)
	}
	for i := range g.q {
		g.q[i] /= factor
	}
	if i := slices.IndexFunc(g.q, func(v float64) bool { return math.IsInf(v, 0) }); i >= 0 {
		return bad(g.name, g.group+"/dynamic_v_list_dim0", "element %d is %g; want finite numbers", i, g.q[i])
	}
	return nil
}
