package autodiff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

func onDevice(t *testing.T, outs, in []*ad.Node, values [][]float64, bits int) [][]float64 {
	t.Helper()
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	var first [][]float64
	for run := range 3 { // the second captures a graph, the third launches it
		for i, v := range values {
			if err := s.SetInput(i, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Run(); err != nil {
			t.Fatalf("run %d: %v\n%v", run, err, p)
		}
		var got [][]float64
		for i := range outs {
			got = append(got, s.OutputFloat64(i))
		}
		if run == 0 {
			first = got
		}
		for i := range outs {
			if !slices.EqualFunc(got[i], first[i], func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Fatalf("run %d: output %d differs", run, i)
			}
		}
	}
	return first
}

func TestGenerated(t *testing.T) {
	libs, _ := filepath.Glob(os.Getenv("HOME") + "/.cache/euryale/pretend/*/libpretend.so")
	lib := ""
	var when int64
	for _, l := range libs {
		if i, _ := os.Stat(l); i.ModTime().UnixNano() > when {
			lib, when = l, i.ModTime().UnixNano()
		}
	}
	t.Setenv("EURYALE_LIBCUDA", lib)
	t.Setenv("EURYALE_LIBNVRTC", lib)
	for _, op := range ad.Ops() {
		if op.Sample == nil {
			continue
		}
		rng := rand.New(rand.NewPCG(5, 1))
		var in []*ad.Node
		var values [][]float64
		outs := op.Sample(func(lo, hi float64, shape ...int) *ad.Node {
			x := ad.Input(fmt.Sprint("x", len(in)), shape...)
			v := make([]float64, x.Size())
			for k := range v {
				v[k] = lo + rng.Float64()*(hi-lo)
			}
			in, values = append(in, x), append(values, v)
			return x
		})
		if op.Differentiable() {
			total := ad.Scalar(0)
			for _, o := range outs {
				total = ad.Add(total, ad.Sum(ad.Square(o)))
			}
			outs = append(outs, ad.Grad(total, in...)...)
		}
		for _, bits := range []int{64, 32} {
			got := onDevice(t, outs, in, values, bits)
			want := results(t, way{bits, ""}, outs, in, values)
			tol := map[int]float64{64: 1e-10, 32: 2e-4}[bits]
			for i := range outs {
				for k := range got[i] {
					if !near(got[i][k], want[i][k], tol) {
						t.Errorf("%s bits %d output %d element %d: device %g, CPU %g", op.Name, bits, i, k, got[i][k], want[i][k])
						break
					}
				}
			}
		}
	}
}

func TestGeneratedGraphs(t *testing.T) {
	libs, _ := filepath.Glob(os.Getenv("HOME") + "/.cache/euryale/pretend/*/libpretend.so")
	t.Setenv("EURYALE_LIBCUDA", libs[0])
	t.Setenv("EURYALE_LIBNVRTC", libs[0])
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		shapes := [][]int{{3, 40}, {40}, {3, 1}}
		if seed%3 == 1 {
			shapes = [][]int{{5, 4, 3}, {4, 3}, {5, 1, 1}}
		} else if seed%3 == 2 {
			shapes = [][]int{{7, 600}, {600}, {}}
		}
		var in []*ad.Node
		var values [][]float64
		for i, s := range shapes {
			x := ad.Input(fmt.Sprint("x", i), s...)
			v := make([]float64, x.Size())
			for k := range v {
				v[k] = rng.NormFloat64()
			}
			in, values = append(in, x), append(values, v)
		}
		all := randomGraph(rng, in[0], in[1], in[2], 14)
		last := ad.Sum(all[len(all)-1])
		outs := append([]*ad.Node{last, all[len(all)-2]}, ad.Grad(last, in...)...)
		got := onDevice(t, outs, in, values, 64)
		want := results(t, way{64, ""}, outs, in, values)
		for i := range outs {
			for k := range got[i] {
				if !near(got[i][k], want[i][k], 1e-11) {
					t.Fatalf("seed %d output %d element %d: device %g, CPU %g", seed, i, k, got[i][k], want[i][k])
				}
			}
		}
	}
}
