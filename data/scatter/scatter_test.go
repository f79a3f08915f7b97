// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// truth is what made a reference.
type truth struct {
	Parameters map[string]struct{ Truth float64 }
	Geometry   struct {
		Pixel    float64    `json:"pixel_mm"`
		Distance float64    `json:"distance_mm"`
		Rot      [3]float64 `json:"rot_rad"`
		Centre   []float64  `json:"nominal_centre_index"`
		Poni     []float64  `json:"nominal_poni_index"`
	}
	Energies      []float64
	Polarizations []float64
	Exposures     []float64
	Exposure      float64
	Flux          []float64 `json:"i0"`
	Transmission  []float64
	Dark          float64
	Good          int `json:"good_pixels"`
}

// reference is a set of files of one measurement.
type reference struct {
	truth
	dir   string
	bad   []bool // mask.npy
	sets  map[string]*scatter.Set
	first []scatter.Frame // of the first draw, by energy, polarisation and exposure
}

// eachReference calls f with all files of each reference that could be read.
func eachReference(t *testing.T, f func(t *testing.T, r *reference)) {
	t.Helper()
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		dir := path.Dir(name)
		r := &reference{dir: dir, sets: map[string]*scatter.Set{}}
		golden.JSON(t, &r.truth, dir, "truth.json")
		if r.Polarizations == nil {
			r.Polarizations = []float64{0}
		}
		if r.Exposures == nil {
			r.Exposures = []float64{r.Exposure}
		}
		b, err := os.ReadFile(golden.Path(t, dir, "mask.npy"))
		if err != nil {
			t.Fatal(err)
		}
		mask, err := tensor.ReadNPY(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range mask.Float64s() {
			r.bad = append(r.bad, x != 0)
		}
		for _, file := range golden.Glob(t, dir+"/*") {
			base := path.Base(file)
			if strings.HasSuffix(base, ".py") || strings.HasPrefix(base, "mask") || strings.HasPrefix(base, "constants") || base == "truth.json" || base == "expected_counts.npz" {
				continue
			}
			set, err := scatter.Open(golden.Path(t, file), scatter.Settings{})
			if err != nil {
				t.Errorf("%s: %v", base, err)
				continue
			}
			r.sets[base] = set
			if strings.HasPrefix(base, "raw_draw00") && strings.HasSuffix(base, ".nc") {
				r.first = append(r.first, set.Frames...)
			}
		}
		slices.SortFunc(r.first, order)
		f(t, r)
	})
}

func order(a, b scatter.Frame) int {
	return cmp.Or(cmp.Compare(a.Energy, b.Energy), cmp.Compare(a.Polarization, b.Polarization), cmp.Compare(a.Exposure, b.Exposure))
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// Every form of the files of one draw gives the same counts at the same energies, polarisations and exposures, and the geometry that made
// them; the counts are those that are expected, within their noise.
func TestImagesAgree(t *testing.T) {
	eachReference(t, func(t *testing.T, r *reference) {
		var want []scatter.Frame
		for _, e := range r.Energies {
			for _, p := range r.Polarizations {
				for _, x := range r.Exposures {
					want = append(want, scatter.Frame{Energy: e, Polarization: p, Exposure: x})
				}
			}
		}
		for i, f := range r.first {
			if f.Energy != want[i].Energy || f.Polarization != want[i].Polarization || f.Exposure != want[i].Exposure {
				t.Errorf("pattern %d is at %g eV, %g degrees and %g s, want %g, %g, %g", i, f.Energy, f.Polarization, f.Exposure, want[i].Energy, want[i].Polarization, want[i].Exposure)
			}
			if k := slices.Index(r.Energies, f.Energy); r.Flux != nil && (f.Flux != r.Flux[k] || f.Transmission != r.Transmission[k] || f.Dark != r.Dark) {
				t.Errorf("pattern %d has the flux %g, transmission %g and dark %g", i, f.Flux, f.Transmission, f.Dark)
			}
		}
		if len(r.first) != len(want) {
			t.Fatalf("%d patterns, want %d", len(r.first), len(want))
		}
		foot := slices.Concat(r.Geometry.Centre, r.Geometry.Poni)
		geometry := []float64{r.Geometry.Pixel, r.Geometry.Pixel, r.Geometry.Distance, (foot[1] + 0.5) * r.Geometry.Pixel, (foot[0] + 0.5) * r.Geometry.Pixel, r.Geometry.Rot[0], r.Geometry.Rot[1], r.Geometry.Rot[2]}
		forms := map[string]bool{}
		for base, set := range r.sets {
			if set.Kind != scatter.Images {
				continue
			}
			forms[set.Form] = true
			g := set.Geometry
			for i, x := range []float64{g.PixelY, g.PixelX, g.Distance, g.PoniY, g.PoniX, g.Rot1, g.Rot2, g.Rot3} {
				if math.Abs(x-geometry[i]) > 1e-12 {
					t.Errorf("%s: number %d of the geometry is %.15g, want %.15g", base, i, x, geometry[i])
				}
			}
			if err := set.CheckCounts(); (err == nil) == set.Rates {
				t.Errorf("%s: rates %v, %v", base, set.Rates, err)
			}
			if strings.Contains(base, "draw") && !strings.Contains(base, "draw00") || set.Rates {
				continue
			}
			for _, f := range set.Frames {
				i, ok := slices.BinarySearchFunc(r.first, f, order)
				if !ok || !same(f.Counts, r.first[i].Counts) {
					t.Errorf("%s: the counts at %g eV, %g degrees and %g s are not those of the other files", base, f.Energy, f.Polarization, f.Exposure)
				}
			}
			if set.Keep != nil {
				for i, k := range set.Keep {
					if k == r.bad[i] {
						t.Fatalf("%s: the mask differs at pixel %d", base, i)
					}
				}
			}
		}
		r.expected(t)
		if len(forms) < 1 {
			t.Error("no file was an image")
		}
	})
}

// expected compares sums over the good pixels with the noise-free counts at the longest exposure.
func (r *reference) expected(t *testing.T) {
	b, err := os.ReadFile(golden.Path(t, r.dir, "expected_counts.npz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := tensor.ReadNPZ(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	mu, n, i := z["mu"].Float64s(), len(r.bad), 0
	for _, f := range r.first {
		if f.Exposure != slices.Max(r.Exposures) {
			continue
		}
		sum, want := 0.0, 0.0
		for k := range n {
			if !r.bad[k] {
				sum, want = sum+f.Counts[k], want+mu[i*n+k]
			}
		}
		if i++; math.Abs(sum-want) > 6*math.Sqrt(want) {
			t.Errorf("%g eV, %g degrees: %g counts, want %.1f +- %.1f", f.Energy, f.Polarization, sum, want, math.Sqrt(want))
		}
	}
}

// Rates give back the counts they were made of, and their errors are those of counts.
func TestRates(t *testing.T) {
	eachReference(t, func(t *testing.T, r *reference) {
		for base, set := range r.sets {
			if set.Kind != scatter.Images || !set.Rates {
				continue
			}
			for _, f := range set.Frames {
				i, _ := slices.BinarySearchFunc(r.first, f, order)
				for k, x := range f.Counts {
					c := r.first[i].Counts[k]
					if math.IsNaN(x) != r.bad[k] {
						t.Fatalf("%s: pixel %d is %g, masked %v", base, k, x, r.bad[k])
					}
					by := f.Exposure * f.Flux
					if back := x*by + f.Dark*f.Exposure; !r.bad[k] && (math.Abs(back-c) > 1e-5*(1+c) || math.Abs(f.Errors[k]*by-math.Sqrt(c)) > 1e-5*(1+c)) {
						t.Fatalf("%s: pixel %d is %g with error %g: want %g counts", base, k, back, f.Errors[k]*by, c)
					}
				}
			}
		}
	})
}

// bins adds the pixels of a frame up by q (1/nm) and chi (degrees), about a centre that is off the nominal one by x and y pixels. It returns
// the sums of counts without dark counts, of exposures, and of counts.
func (r *reference) bins(f scatter.Frame, g scatter.Geometry, x, y float64, q, chi []float64) (counts, weight, raw []float64) {
	n := int(math.Sqrt(float64(len(r.bad))))
	k := 2 * math.Pi * f.Energy / 1239.84197
	c1, s1, c2, s2, c3, s3 := math.Cos(g.Rot1), math.Sin(g.Rot1), math.Cos(g.Rot2), math.Sin(g.Rot2), math.Cos(g.Rot3), math.Sin(g.Rot3)
	bins := max(1, len(chi)) * len(q)
	counts, weight, raw = make([]float64, bins), make([]float64, bins), make([]float64, bins)
	at := func(x float64, centres []float64) int {
		step := centres[1] - centres[0]
		return int(math.Floor((x-centres[0])/step + 0.5))
	}
	for i, bad := range r.bad {
		if bad {
			continue
		}
		p1, p2 := (float64(i/n)+0.5-y)*g.PixelY-g.PoniY, (float64(i%n)+0.5-x)*g.PixelX-g.PoniX
		py := p1*c2*c3 + p2*(c3*s1*s2-c1*s3) - g.Distance*(c1*c3*s2+s1*s3)
		px := p1*c2*s3 + p2*(c1*c3+s1*s2*s3) - g.Distance*(c1*s2*s3-c3*s1)
		pz := p1*s2 - p2*c2*s1 + g.Distance*c1*c2
		l := math.Sqrt(px*px + py*py + pz*pz)
		qx, qy, qz := k*px/l, k*py/l, k*(pz/l-1)
		iq, ic := at(math.Sqrt(qx*qx+qy*qy+qz*qz), q), 0
		if chi != nil {
			ic = at(math.Atan2(qy, qx)*180/math.Pi, chi)
		}
		if iq < 0 || iq >= len(q) || ic < 0 || ic >= max(1, len(chi)) {
			continue
		}
		omega := 1.0
		if r.Flux != nil { // then the counts hold the solid angle
			omega = math.Pow(g.Distance/l, 3) * f.Flux
		}
		b := ic*len(q) + iq
		counts[b] += f.Counts[i] - f.Dark*f.Exposure
		raw[b] += f.Counts[i]
		weight[b] += omega * f.Exposure
	}
	return counts, weight, raw
}

// Reduced data are those of the first draw about the true centre, or about the nominal one: q, chi, intensities and errors.
func TestReduced(t *testing.T) {
	eachReference(t, func(t *testing.T, r *reference) {
		geometry := scatter.Geometry{}
		for _, set := range r.sets {
			if set.Kind == scatter.Images {
				geometry = set.Geometry
			}
		}
		found := 0
		for base, set := range r.sets {
			if set.Kind != scatter.Curves {
				continue
			}
			found++
			x, y := r.Parameters["centre_x"].Truth, r.Parameters["centre_y"].Truth
			if strings.Contains(base, "nominal") {
				x, y = 0, 0
			}
			off, all := 0, 0
			for _, c := range set.Curves {
				counts, weight, raw := make([]float64, len(c.I)), make([]float64, len(c.I)), make([]float64, len(c.I))
				for _, f := range r.first { // a table has both exposures together
					if f.Energy != c.Energy || f.Polarization != c.Polarization || c.Exposure != 0 && f.Exposure != c.Exposure {
						continue
					}
					a, b, d := r.bins(f, geometry, x, y, c.Q, c.Chi)
					for i := range a {
						counts[i], weight[i], raw[i] = counts[i]+a[i], weight[i]+b[i], raw[i]+d[i]
					}
				}
				for i, v := range c.I {
					all++
					want := counts[i] / weight[i]
					wrong := math.Abs(v-want) > 1e-4*math.Abs(want)+1e-6 || math.IsNaN(v) != math.IsNaN(want)
					if r.Flux == nil && !wrong && !math.IsNaN(v) { // errors of counts
						wrong = math.Abs(c.Errors[i]-math.Sqrt(raw[i])/weight[i]) > 1e-3*c.Errors[i]+1e-6
					}
					if wrong {
						off++
					}
				}
			}
			if off > all/200 { // pixels on the edges of bins
				t.Errorf("%s: %d of %d bins differ", base, off, all)
			}
		}
		if found == 0 {
			t.Error("there are no reduced data")
		}
	})
}

// The q of A(q) and of maps is in 1/nm whatever its unit in the file, and q = 0 of a map is at the nominal centre.
func TestAnisotropyAndMaps(t *testing.T) {
	eachReference(t, func(t *testing.T, r *reference) {
		var q []float64
		for _, set := range r.sets {
			if set.Kind == scatter.Curves && set.Curves[0].Chi != nil {
				q = set.Curves[0].Q
			}
		}
		for base, set := range r.sets {
			switch set.Kind {
			case scatter.Anisotropies:
				for i, c := range set.Curves {
					if c.Energy != r.Energies[i] || len(c.Q) != len(q) {
						t.Fatalf("%s: %d q at %g eV", base, len(c.Q), c.Energy)
					}
					for k := range q {
						if math.Abs(c.Q[k]-q[k]) > 1e-12 {
							t.Fatalf("%s: q %d is %g, want %g 1/nm", base, k, c.Q[k], q[k])
						}
					}
				}
			case scatter.Maps:
				m := set.Maps[0]
				x, y := -m.QX[0]/(m.QX[1]-m.QX[0]), -m.QY[0]/(m.QY[1]-m.QY[0])
				want := r.Geometry.Centre
				if strings.Contains(base, "swapped") {
					want = []float64{want[1], want[0]}
				}
				if math.Abs(x+0.5-want[0]) > 1e-6 && math.Abs(x-want[0]) > 1e-6 || math.Abs(y-x-(want[1]-want[0])) > 1e-6 {
					t.Errorf("%s: q = 0 at index (%g, %g), want %v", base, x, y, want)
				}
			}
		}
	})
}

// A summary is one line that names the file and what it holds.
func TestSummary(t *testing.T) {
	eachReference(t, func(t *testing.T, r *reference) {
		for base, set := range r.sets {
			got := set.Summary()
			kind := string(set.Kind)
			if set.Kind == scatter.Images {
				kind = map[bool]string{true: "rates", false: "counts"}[set.Rates]
			}
			if strings.Contains(got, "\n") || !strings.HasPrefix(got, fmt.Sprintf("%s: %s [", base, kind)) {
				t.Errorf("%q", got)
			}
		}
	})
}

// Masks of every form are that of the set, but polygons, which cover a part of it and their surroundings. A picture whose numbers may mean either is asked for.
func TestMasks(t *testing.T) {
	eachReference(t, func(t *testing.T, r *reference) {
		raw := ""
		for base := range r.sets {
			if strings.HasPrefix(base, "raw_draw00") && strings.HasSuffix(base, ".nc") {
				raw = base
			}
		}
		for _, file := range golden.Glob(t, r.dir+"/mask*") {
			m := scatter.Mask{File: golden.Path(t, file)}
			open := func() (*scatter.Set, error) {
				return scatter.Open(golden.Path(t, r.dir, raw), scatter.Settings{Masks: []scatter.Mask{m}})
			}
			set, err := open()
			if err != nil && strings.Contains(err.Error(), `"keep": "zero"`) && strings.HasSuffix(file, ".tif") {
				m.Keep = "zero"
				set, err = open()
			}
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			missed, extra, covered := 0, 0, 0
			for i, k := range set.Keep {
				switch {
				case k && r.bad[i]:
					missed++
				case !k && !r.bad[i]:
					extra++
				case !k:
					covered++
				}
			}
			if polygon := strings.Contains(file, "polygon"); covered == 0 || (missed > 0 || extra > 0) && !polygon || polygon && extra > len(r.bad)/10 {
				t.Errorf("%s: %d bad pixels are kept, and %d good ones are not, with %d covered", file, missed, extra, covered)
			}
		}
	})
}
