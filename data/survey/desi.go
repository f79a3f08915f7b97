// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
)

// DESI is an open coadd- or spectra- file of DESI. Spectra are read fiber by fiber.
type DESI struct {
	Name     string
	Arms     []string // arms that the file has, out of b, r and z
	TargetID []int64  // target of each row
	Fibermap *fits.Table
	Scores   *fits.Table // table SCORES; nil if there is none
	ExpMap   *fits.Table // table EXP_FIBERMAP; nil if there is none

	file *fits.File
	wave map[string][]float64
	part map[string][4]*fits.Image // flux, ivar, mask, resolution
}

// OpenDESI opens a file with FIBERMAP and, for each arm, WAVELENGTH, FLUX, IVAR and MASK; SCORES,
// EXP_FIBERMAP and RESOLUTION are optional.
func OpenDESI(name string) (*DESI, error) {
	f, err := fits.Open(name)
	if err != nil {
		return nil, err
	}
	d, err := newDESI(name, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return d, nil
}

func newDESI(name string, f *fits.File) (*DESI, error) {
	d := &DESI{Name: name, file: f, wave: map[string][]float64{}, part: map[string][4]*fits.Image{}}
	var err error
	if d.Fibermap, err = f.Table("FIBERMAP"); err != nil {
		return nil, err
	}
	c, err := d.Fibermap.Column("TARGETID")
	if err != nil {
		return nil, err
	}
	if d.TargetID, err = c.Int64s(); err != nil {
		return nil, err
	}
	for key, to := range map[string]**fits.Table{"SCORES": &d.Scores, "EXP_FIBERMAP": &d.ExpMap} {
		if f.Has(key) {
			if *to, err = f.Table(key); err != nil {
				return nil, err
			}
		}
	}
	for _, arm := range []string{"b", "r", "z"} {
		if !f.Has(strings.ToUpper(arm) + "_FLUX") {
			continue
		}
		if err := d.arm(arm); err != nil {
			return nil, err
		}
		d.Arms = append(d.Arms, arm)
	}
	if len(d.Arms) == 0 {
		return nil, &FormatError{Format: "survey", File: name, What: "there is none of B_FLUX, R_FLUX and Z_FLUX", Err: ErrIncomplete, Try: "give a coadd- or spectra- file"}
	}
	return d, nil
}

func (d *DESI) arm(arm string) error {
	pre := strings.ToUpper(arm) + "_"
	w, err := d.file.Image(pre + "WAVELENGTH")
	if err != nil {
		return err
	}
	if len(w.Shape()) != 1 {
		return bad(d.Name, pre+"WAVELENGTH", "the image has the shape %v: want one axis", w.Shape())
	}
	if d.wave[arm], err = w.Float64s(); err != nil {
		return err
	}
	if err := checkWave(d.Name, pre+"WAVELENGTH", d.wave[arm]); err != nil {
		return err
	}
	var parts [4]*fits.Image
	for i, key := range []string{"FLUX", "IVAR", "MASK", "RESOLUTION"} {
		if key == "RESOLUTION" && !d.file.Has(pre+key) {
			continue
		}
		if parts[i], err = d.file.Image(pre + key); err != nil {
			return err
		}
		shape := parts[i].Shape()
		want := []int{len(d.TargetID), len(d.wave[arm])}
		if i == 3 {
			if len(shape) != 3 || shape[1] < 1 || shape[1] > 1000 {
				return bad(d.Name, pre+key, "the image has the shape %v: want three axes: fibers, diagonals and pixels", shape)
			}
			want = []int{want[0], shape[1], want[1]}
		}
		if !slices.Equal(shape, want) {
			return bad(d.Name, pre+key, "the image has the shape %v, but there are %d fibers and %d wavelengths: fetch the file again", shape, len(d.TargetID), len(d.wave[arm]))
		}
	}
	d.part[arm] = parts
	return nil
}

// Close closes the file.
func (d *DESI) Close() error { return d.file.Close() }

// Header returns the header of the primary HDU.
func (d *DESI) Header() *fits.Header { return d.file.HDUs()[0].Header }

// Wave returns the wavelengths of an arm in Angstrom, which all fibers share. It returns nil if the
// file does not have the arm.
func (d *DESI) Wave(arm string) []float64 { return d.wave[arm] }

// Raw reads the spectrum of one fiber in one arm, with the resolution matrix if asked for.
func (d *DESI) Raw(row int, arm string, resolution bool) (*Raw, error) {
	list, err := d.Raws(row, row+1, arm, resolution)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Raws reads the spectra of the fibers from lo up to but not including hi in one arm.
func (d *DESI) Raws(lo, hi int, arm string, resolution bool) ([]*Raw, error) {
	parts, ok := d.part[arm]
	if !ok {
		return nil, bad(d.Name, "", "there is no arm %q: want one of %v", arm, d.Arms)
	}
	flux, err := parts[0].Slice(lo, hi).Float64s()
	if err != nil {
		return nil, err
	}
	ivar, err := parts[1].Slice(lo, hi).Float64s()
	if err != nil {
		return nil, err
	}
	mask, err := parts[2].Slice(lo, hi).Int64s()
	if err != nil {
		return nil, err
	}
	var res []float64
	diag := 0
	if resolution {
		if parts[3] == nil {
			return nil, &FormatError{Format: "survey", File: d.Name, Place: strings.ToUpper(arm) + "_RESOLUTION", What: "there is no resolution matrix", Err: ErrIncomplete, Try: "fit without it"}
		}
		if res, err = parts[3].Slice(lo, hi).Float64s(); err != nil {
			return nil, err
		}
		diag = parts[3].Shape()[1]
	}
	out := make([]*Raw, hi-lo)
	n := len(d.wave[arm])
	for i := range out {
		r := &Raw{Name: "desi_" + arm, Wave: d.wave[arm], Flux: flux[i*n : (i+1)*n], IVar: ivar[i*n : (i+1)*n], Mask: make([]bool, n), Diagonals: diag}
		for k := range n {
			r.Mask[k] = mask[i*n+k] > 0
		}
		if resolution {
			r.Resolution = res[i*n*diag : (i+1)*n*diag]
		}
		out[i] = r
	}
	return out, nil
}

// Fiber returns the spectra of a fiber in some arms, prepared by the rules for DESI: the dichroic is
// marked, and with a resolution matrix 5 pixels at each edge. Arms that cannot be used are left out.
func (d *DESI) Fiber(row int, arms []string, resolution bool) ([]*Arm, error) {
	p := Preparation{Dichroic: true}
	if resolution {
		p.Edges = 5
	}
	var out []*Arm
	for _, arm := range arms {
		r, err := d.Raw(row, arm, resolution)
		if err != nil {
			return nil, err
		}
		if a := Prepare(r, p); a != nil {
			out = append(out, a)
		}
	}
	return out, nil
}

// SignalToNoise returns the S/N of all rows in an arm, taken from SCORES or computed.
func (d *DESI) SignalToNoise(arm string) ([]float64, error) {
	if d.Scores != nil {
		for _, key := range []string{"MEDIAN_CALIB_SNR_", "MEDIAN_COADD_SNR_", "MEDIAN_COADD_FLUX_SNR_"} {
			if c, err := d.Scores.Column(key + strings.ToUpper(arm)); err == nil {
				v, err := c.Float64s()
				if err == nil && len(v) != len(d.TargetID) {
					return nil, bad(d.Name, "SCORES", "the table has %d rows, but FIBERMAP has %d: fetch the file again", len(v), len(d.TargetID))
				}
				return v, err
			}
		}
	}
	out := make([]float64, len(d.TargetID))
	for row := range out {
		r, err := d.Raw(row, arm, false)
		if err != nil {
			return nil, fmt.Errorf("the S/N of row %d cannot be computed: %w", row, err)
		}
		out[row] = r.SignalToNoise()
	}
	return out, nil
}
