// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
)

// firstTarget is the TARGETID of the first fiber of coadd's file; the others follow.
const firstTarget = 39627000000000100

// coadd writes a small coadd file of three arms and its redshift file. Row 1 is sky, row 2 a broken fiber, and row 7 a quasar; row 8
// has no pixels that can be used.
func coadd(t testing.TB) string {
	t.Helper()
	const n, pixels = 9, 12
	sn := []float64{70, 0, 70, 45, 60.5, 5, 50, 80, 0}
	ids, targets, status, kinds := make([]int64, n), make([]int64, n), make([]int32, n), make([]string, n)
	z, types, none := make([]float64, n), make([]string, n), make([]string, n)
	for i := range n {
		ids[i], targets[i], kinds[i], types[i] = firstTarget+int64(i), 1<<targetBits["MWS_ANY"]|1<<targetBits["STD_BRIGHT"], "TGT", "STAR"
	}
	kinds[1], status[2], types[7], z[7], types[8], targets[3] = "SKY", 1<<9, "QSO", 1.4, "GALAXY", 1<<targetBits["MWS_ANY"]
	dir := t.TempDir()
	name := filepath.Join(dir, "coadd-made.fits")
	w := must[*fits.Writer](t)(fits.Create(name))
	w.Table("FIBERMAP", nil, []fits.Data{{Name: "TARGETID", Values: ids}, {Name: "COADD_FIBERSTATUS", Values: status}, {Name: "OBJTYPE", Values: kinds}, {Name: "DESI_TARGET", Values: targets}})
	scores := []fits.Data{{Name: "TARGETID", Values: ids}}
	for arm, from := range map[string]float64{"B": 3600, "R": 5760, "Z": 7520} {
		wave, flux, ivar, mask := make([]float64, pixels), make([]float32, n*pixels), make([]float32, n*pixels), make([]int32, n*pixels)
		for k := range wave {
			wave[k] = from + 0.8*float64(k)
		}
		for i := range n {
			for k := range pixels {
				flux[i*pixels+k], ivar[i*pixels+k] = float32(sn[i]/2), 4
				if i == 8 {
					flux[i*pixels+k], ivar[i*pixels+k] = 0, 0
				}
			}
		}
		flux[0], mask[0] = 1e6, 1 // does not count
		w.Image(arm+"_WAVELENGTH", nil, []int{pixels}, wave)
		w.Image(arm+"_FLUX", nil, []int{n, pixels}, flux)
		w.Image(arm+"_IVAR", nil, []int{n, pixels}, ivar)
		w.Image(arm+"_MASK", nil, []int{n, pixels}, mask)
		scores = append(scores, fits.Data{Name: "MEDIAN_COADD_SNR_" + arm, Values: sn})
	}
	w.Table("SCORES", nil, scores)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = must[*fits.Writer](t)(fits.Create(filepath.Join(dir, "redrock-made.fits")))
	w.Table("REDSHIFTS", nil, []fits.Data{{Name: "TARGETID", Values: ids}, {Name: "Z", Values: z}, {Name: "SPECTYPE", Values: types}, {Name: "SUBTYPE", Values: none}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// The S/N of fibers is the median over their good pixels, and the one in SCORES is believed.
func TestSignalToNoise(t *testing.T) {
	d := must[*DESI](t)(OpenDESI(coadd(t)))
	defer d.Close()
	for _, arm := range d.Arms {
		scores := d.Scores
		sn := must[[]float64](t)(d.SignalToNoise(arm))
		d.Scores = nil
		own := must[[]float64](t)(d.SignalToNoise(arm))
		d.Scores = scores
		for i := range sn {
			want := sn[i]
			if i == 8 {
				want = -1e9
			}
			if math.Abs(own[i]-want) > 1e-6*math.Abs(want) {
				t.Errorf("arm %s, fiber %d: S/N %v computed, want %v", arm, i, own[i], want)
			}
		}
	}
}
