// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/golden"
	goldennpy "github.com/euryale-dev/euryale/internal/golden/npy"
)

// npy reads numbers of a golden file and their shape.
func npy(t testing.TB, elem ...string) ([]float64, []int) {
	t.Helper()
	return goldennpy.Read(t, append([]string{"spectra"}, elem...)...)
}

func ints[T int | int32](x []float64) []T {
	out := make([]T, len(x))
	for i, v := range x {
		out[i] = T(v)
	}
	return out
}

// evaluate returns spectra and how far outside they are, for rows of parameters.
func evaluate(t testing.TB, lib *Templates, u []float64) (flux, outside []float64) {
	t.Helper()
	d := lib.Dim()
	x := ad.Input("u", len(u)/d, d)
	log, out := lib.LogFlux(x)
	p, err := ad.Compile([]*ad.Node{ad.Exp(log), out}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	s.SetInput(0, u)
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(s.Output(0)), slices.Clone(s.Output(1))
}

// goldenNetwork is the network of an arm, of the weights in a file.
func goldenNetwork(t testing.TB, arm string) *Templates {
	t.Helper()
	var all map[string]struct {
		Kwargs    struct{ Indim, Nlayers, Npc, Npix, Width int }
		Mean, Std []float64
		LogIDs    []int `json:"log_ids"`
		StateKeys []any `json:"state_keys"`
	}
	golden.JSON(t, &all, "spectra", "nn", "nn.json")
	f, ok := all[arm]
	if !ok {
		t.Fatalf("there is no network %s", arm)
	}
	w, _ := npy(t, "nn", "weights_"+arm+".npy")
	var layers []Layer
	in := f.Kwargs.Indim
	for i := range f.Kwargs.Nlayers + 3 {
		out := f.Kwargs.Width
		switch i {
		case f.Kwargs.Nlayers + 1:
			out = f.Kwargs.Npc
		case f.Kwargs.Nlayers + 2:
			out = f.Kwargs.Npix
		}
		layers = append(layers, Layer{In: in, Out: out, W: w[:in*out], B: w[in*out : in*out+out]})
		w, in = w[in*out+out:], out
	}
	if len(w) > 0 {
		t.Fatalf("%d weights are left", len(w))
	}
	h, err := hdf5.Open(golden.Path(t, "spectra", "nn", "interp_nn_"+arm+".h5"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	set, err := h.Dataset("/outside_kwargs/pts")
	if err != nil {
		t.Fatal(err)
	}
	points, err := set.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewNetwork(f.Mean, f.Std, layers, points)
	if err != nil {
		t.Fatal(err)
	}
	lam, _ := npy(t, "library", "lam_"+arm+".npy")
	return &Templates{Name: arm, Lam: lam, Log: true, LogParams: f.LogIDs, Interpolator: n}
}

// transposed returns columns of n rows as rows of n columns.
func transposed(x []float64, n int) []float64 {
	count := len(x) / n
	out := make([]float64, len(x))
	for i := range count {
		for k := range n {
			out[i*n+k] = x[k*count+i]
		}
	}
	return out
}

func goldenGrid(t testing.TB, arm string, clamp bool) *Templates {
	t.Helper()
	s := RegularSettings{Clamp: clamp}
	golden.JSON(t, &s.Axes, "spectra", "library", "uvecs.json")
	ids, _ := npy(t, "library", "idgrid.npy")
	points, _ := npy(t, "library", "grid_vec_mapped.npy")
	s.IDs, s.Points = ints[int](ids), transposed(points, len(s.Axes))
	s.LogFlux, _ = npy(t, "library", "interpdat_"+arm+".npy")
	r, err := NewRegular(s)
	if err != nil {
		t.Fatal(err)
	}
	lam, _ := npy(t, "library", "lam_"+arm+".npy")
	return &Templates{Name: arm, Lam: lam, Log: true, LogParams: []int{0}, Interpolator: r}
}

// worst returns the largest difference, relative to the size of what is wanted.
func worst(got, want []float64) (d float64) {
	for i, w := range want {
		if math.IsNaN(w) != math.IsNaN(got[i]) {
			return math.Inf(1)
		}
		if !math.IsNaN(w) {
			d = max(d, math.Abs(got[i]-w)/max(1, math.Abs(w)))
		}
	}
	return d
}

// Networks and regular grids give the reference's spectra, and say as it does how far outside a star is.
func TestInterpolatorGoldens(t *testing.T) {
	var f struct {
		Cases []struct {
			Kind, Arm, Tag string
			Params         []float64
			Outside        golden.Float
		}
	}
	golden.JSON(t, &f, "spectra", "library", "interp_eval.json")
	type key struct{ kind, arm string }
	params, outside := map[key][]float64{}, map[key][]float64{}
	for _, c := range f.Cases {
		k := key{c.Kind, c.Arm}
		params[k], outside[k] = append(params[k], c.Params...), append(outside[k], float64(c.Outside))
	}
	if len(params) == 0 {
		t.Fatal("too few cases")
	}
	for k, u := range params {
		t.Run(k.kind+" "+k.arm, func(t *testing.T) {
			lib, tolerance := (*Templates)(nil), 2e-5 // float32 networks
			if k.kind == "nn" {
				lib = goldenNetwork(t, k.arm)
			} else {
				lib, tolerance = goldenGrid(t, k.arm, false), 1e-6 // float32 tables
			}
			want, _ := npy(t, "library", fmt.Sprintf("eval_%s_%s.npy", k.kind, k.arm))
			flux, out := evaluate(t, lib, u)
			if d := worst(flux, want[:len(flux)]); !(d < tolerance) {
				t.Errorf("spectra differ by %g", d)
			}
			if d := worst(out, outside[k]); !(d < 1e-5) { // the reference maps parameters in float32
				t.Errorf("outside differs by %g: %v, want %v", d, out, outside[k])
			}
		})
	}
}

// Networks in float64 have the values, derivatives and hulls of an implementation in float64.
func TestNetworkGoldens(t *testing.T) {
	var all map[string]struct {
		Params       [][]float64
		Outside      []golden.Float
		HullTeffLogg [][3]float64 `json:"hull_teff_logg"`
		HullFehAlpha [][3]float64 `json:"hull_feh_alpha"`
	}
	golden.JSON(t, &all, "spectra", "nn", "nn.json")
	for arm, f := range all {
		lib := goldenNetwork(t, arm)
		var u, far []float64
		for i, p := range f.Params {
			u, far = append(u, p...), append(far, float64(f.Outside[i]))
		}
		want, _ := npy(t, "nn", "eval64_"+arm+".npy")
		flux, out := evaluate(t, lib, u)
		if d := worst(flux, want[:len(flux)]); !(d < 1e-11) {
			t.Errorf("%s: spectra differ by %g", arm, d)
		}
		if d := worst(out, far); !(d < 1e-5) { // the reference maps parameters in float32
			t.Errorf("%s: outside differs by %g: %v, want %v", arm, d, out, far)
		}
		for i, sides := range [][][3]float64{f.HullTeffLogg, f.HullFehAlpha} {
			ours := lib.Interpolator.(*Network).Hulls[i].Sides
			for _, s := range sides {
				if !slices.ContainsFunc(ours, func(o [3]float64) bool {
					return math.Abs(o[0]-s[0]) < 1e-6 && math.Abs(o[1]-s[1]) < 1e-6 && math.Abs(o[2]-s[2]) < 1e-6
				}) {
					t.Errorf("%s: hull %d lacks the side %v: %v", arm, i, s, ours)
				}
			}
		}
		if golden.Has(t, "spectra", "nn", "jac64_"+arm+".npy") {
			jac, shape := npy(t, "nn", "jac64_"+arm+".npy")
			d := lib.Dim()
			x := ad.Input("u", d)
			log, _ := lib.LogFlux(x)
			p, err := ad.Compile([]*ad.Node{ad.Jacobian(ad.Exp(log), x)}, ad.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			for i := range shape[0] {
				s.SetInput(0, u[i*d:(i+1)*d])
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				got := s.Output(0) // (pixels, parameters)
				size, miss := make([]float64, d), make([]float64, d)
				for k := range d {
					for j := range shape[2] {
						w := jac[(i*d+k)*shape[2]+j]
						size[k], miss[k] = max(size[k], math.Abs(w)), max(miss[k], math.Abs(got[j*d+k]-w))
					}
					if !(miss[k] < 1e-9*size[k]) {
						t.Errorf("%s: derivative %d of case %d differs by %g of %g", arm, k, i, miss[k], size[k])
					}
				}
			}
		}
	}
}

// In float32 networks have the values of the reference's, which computes in float32.
func TestNetworkInFloat32(t *testing.T) {
	var all map[string]struct{ Params [][]float64 }
	golden.JSON(t, &all, "spectra", "nn", "nn.json")
	if len(all) == 0 {
		t.Fatal("there are no networks")
	}
	for arm, f := range all {
		lib := goldenNetwork(t, arm)
		x := ad.Input("u", len(f.Params), lib.Dim())
		log, _ := lib.LogFlux(x)
		p, err := ad.Compile([]*ad.Node{ad.Exp(log)}, ad.Settings{Precision: 32})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		s.SetInput(0, slices.Concat(f.Params...))
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		for name, tolerance := range map[string]float64{"eval32": 2e-5, "eval64": 2e-5} {
			want, _ := npy(t, "nn", name+"_"+arm+".npy")
			for i, v := range s.OutputFloat64(0) {
				if !(math.Abs(v/want[i]-1) < tolerance) {
					t.Errorf("%s: pixel %d of %s is %v, want %v", arm, i, name, v, want[i])
					break
				}
			}
		}
	}
}

// Triangulations of Qhull, and our own of its points, give the reference's spectra.
func TestDelaunayGoldens(t *testing.T) {
	points, shape := npy(t, "triangulation", "points_mapped.npy")
	simplices, _ := npy(t, "triangulation", "simplices.npy")
	neighbours, _ := npy(t, "triangulation", "neighbors.npy")
	flags, _ := npy(t, "triangulation", "extraflags.npy")
	logs, _ := npy(t, "triangulation", "dats_logspec.npy")
	lam, _ := npy(t, "triangulation", "lam.npy")
	want, _ := npy(t, "triangulation", "eval.npy")
	d, err := LoadDelaunay(points, shape[1], ints[int32](simplices), ints[int32](neighbours), flags, logs)
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Params  []float64
		Outside golden.Float
	}
	golden.JSON(t, &cases, "spectra", "triangulation", "eval.json")
	var u, far []float64
	for _, c := range cases {
		u, far = append(u, c.Params...), append(far, float64(c.Outside))
	}
	flux, out := evaluate(t, &Templates{Name: "b", Lam: lam, Log: true, LogParams: []int{0}, Interpolator: d}, u)
	if d := worst(flux, want[:len(flux)]); !(d < 1e-10) {
		t.Errorf("spectra differ by %g", d)
	}
	if d := worst(out, far); !(d < 1e-10) {
		t.Errorf("outside differs by %g: %v, want %v", d, out, far)
	}
}
