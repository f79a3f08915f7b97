// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
)

// Kept is what the files of a fit of DESI's spectra keep of one fiber.
type Kept struct {
	Numbers  map[string]float64   // columns of RVTAB that hold a number for each fiber, by name; NaN for unknown ones
	Warnings int64                // bits of RVS_WARN
	Judged   bool                 // true if there is a verdict on the model
	Agrees   bool                 // true if that verdict is that the model agrees with the data
	Models   map[string][]float64 // flux of the model by arm; none for arms without one
}

// ReadKept reads the fit of a target from an rvtab_ file and, unless its name is empty, an rvmod_ file. It returns nil if the table does not have
// the target. Of several rows of a target it takes that of an exposure, if exposure is not negative and the table has exposures.
func ReadKept(table, models string, target, exposure int64) (*Kept, error) {
	f, err := fits.Open(table)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := f.Table("RVTAB")
	if err != nil {
		return nil, err
	}
	row, err := rowOf(t, target, exposure)
	if err != nil || row < 0 {
		return nil, err
	}
	k := &Kept{Numbers: map[string]float64{}, Models: map[string][]float64{}}
	for _, c := range t.Slice(row, row+1).Columns() {
		switch {
		case c.Repeat != 1 || c.Variable():
		case c.Name == "MODEL_OK":
			v, err := c.Bools()
			if err != nil {
				return nil, err
			}
			k.Judged, k.Agrees = true, v[0]
		case c.Name == "RVS_WARN":
			v, err := c.Int64s()
			if err != nil {
				return nil, err
			}
			k.Warnings = v[0]
		default:
			if v, err := c.Float64s(); err == nil {
				k.Numbers[c.Name] = v[0]
			}
		}
	}
	if models == "" {
		return k, nil
	}
	return k, k.readModels(models, target, exposure)
}

// rowOf returns the row of a target in a table, -1 if it is not there.
func rowOf(t *fits.Table, target, exposure int64) (int, error) {
	ids, err := wholeNumbers(t, "TARGETID")
	if err != nil {
		return -1, err
	}
	if exposure >= 0 && t.Has("EXPID") {
		exposures, err := wholeNumbers(t, "EXPID")
		if err != nil {
			return -1, err
		}
		for i, id := range ids {
			if id == target && exposures[i] == exposure {
				return i, nil
			}
		}
		return -1, nil
	}
	return slices.Index(ids, target), nil
}

func wholeNumbers(t *fits.Table, name string) ([]int64, error) {
	c, err := t.Column(name)
	if err != nil {
		return nil, err
	}
	return c.Int64s()
}

// readModels reads the models of a target. A model of zeros stands for none.
func (k *Kept) readModels(name string, target, exposure int64) error {
	f, err := fits.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := f.Table("FIBERMAP")
	if err != nil {
		return err
	}
	row, err := rowOf(t, target, exposure)
	if err != nil || row < 0 {
		return err
	}
	for _, arm := range []string{"b", "r", "z"} {
		key := strings.ToUpper(arm) + "_MODEL"
		if !f.Has(key) {
			continue
		}
		im, err := f.Image(key)
		if err != nil {
			return err
		}
		if shape := im.Shape(); len(shape) != 2 || shape[0] != t.Len() {
			return bad(name, key, "the image has the shape %v, but there are %d fibers: fit the spectra again", shape, t.Len())
		}
		v, err := im.Slice(row, row+1).Float64s()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(v, func(x float64) bool { return x != 0 && !math.IsNaN(x) }) {
			k.Models[arm] = v
		}
	}
	return nil
}

// warningTexts are the bits of RVS_WARN in words, in their order.
var warningTexts = []string{"chi-square hardly lower than that of the continuum alone", "velocity near the end of its range", "error of the velocity above 100 km/s",
	"a parameter at the edge of its plausible range", "rotation above 100 km/s", "no usable data", "curvature at the optimum not positive",
	"pixels or a second star that no template explains", "pixels left out as spikes", "other velocities fit almost as well"}

// WarningTexts returns the bits of RVS_WARN in words.
func WarningTexts(bits int64) (list []string) {
	for i, text := range warningTexts {
		if bits&(1<<i) != 0 {
			list = append(list, text)
		}
	}
	return list
}

// Exposure returns the number of the exposure of a row of FIBERMAP, or -1 if the file does not have it.
func (d *DESI) Exposure(row int) int64 {
	if !d.Fibermap.Has("EXPID") {
		return -1
	}
	v, err := wholeNumbers(d.Fibermap.Slice(row, row+1), "EXPID")
	if err != nil {
		return -1
	}
	return v[0]
}
