// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package dist_test

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// arrayBlock holds random points whose arrays have the same shapes, and the references of testdata/random_arrays.py.
type arrayBlock struct {
	arrays  []pointArray           // the value and the parameters
	inputs  [][]float64            // the free numbers of all arrays, of each point
	results map[string][]reference // of each function, at each point
}

// pointArray says which numbers of an array are free: those of the lower triangle for kinds l (the others are 0) and s
// (symmetric), or all for kinds a, p (probabilities) and w (whole numbers, which have no derivatives).
type pointArray struct {
	kind  byte
	shape []int
}

// places returns the indices of the elements that each free number fills.
func (a pointArray) places() [][]int {
	size := 1
	for _, n := range a.shape {
		size *= n
	}
	var out [][]int
	for i := range size {
		if a.kind != 'l' && a.kind != 's' {
			out = append(out, []int{i})
			continue
		}
		n := a.shape[1]
		switch r, c := i/n, i%n; {
		case r == c || r > c && a.kind == 'l':
			out = append(out, []int{i})
		case r > c:
			out = append(out, []int{i, c*n + r})
		}
	}
	return out
}

func readArrays(t *testing.T, path string) (blocks []arrayBlock) {
	t.Helper()
	r := columns{b: unzipped(t, path)}
	for len(r.b) > 0 {
		r.n = int(binary.BigEndian.Uint32(r.take(4)))
		block := arrayBlock{inputs: make([][]float64, r.n), results: map[string][]reference{}}
		has, count, free := r.take(1)[0], int(r.take(1)[0]), 0
		for range count {
			a := pointArray{kind: r.take(1)[0]}
			for _, n := range r.take(int(r.take(1)[0])) {
				a.shape = append(a.shape, int(n))
			}
			block.arrays = append(block.arrays, a)
			if a.kind != 'w' {
				free += len(a.places())
			}
		}
		for _, a := range block.arrays {
			for range a.places() {
				for i, v := range r.column(8) {
					block.inputs[i] = append(block.inputs[i], v)
				}
			}
		}
		for k, name := range []string{"LogProb", "LogCDF", "LogCCDF"} {
			if has>>k&1 == 1 {
				block.results[name] = r.references(free, true)
			}
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// arrayFamilies are the families of arrays of the register, and others that have references.
func arrayFamilies() []dist.Family {
	all := []dist.Family{{Name: "multivariatenormal", Make: func(p ...any) dist.Dist { return dist.MultivariateNormal(p[0], p[1]) }}}
	for _, l := range dist.All() {
		if l.Shapes != nil {
			all = append(all, l)
		}
	}
	return all
}

// Log densities, tails and their derivatives of distributions of arrays agree with references of many digits at 2,000
// random points of sizes from 1 to 5. Every family that has arrays has references.
func TestRandomArrays(t *testing.T) {
	for _, l := range arrayFamilies() {
		t.Run(l.Name, func(t *testing.T) {
			points, bad := 0, map[string]int{}
			for _, block := range readArrays(t, filepath.Join("testdata", "random_arrays", l.Name+".bin.gz")) {
				points += len(block.inputs)
				for name, graph := range graphs {
					if refs := block.results[name]; refs != nil {
						compareArrays(t, arrayFamily(l, block), block, name, graph, refs, bad)
					}
				}
			}
			if points < 2000 {
				t.Errorf("there are %d points: want 2,000", points)
			}
			for name, n := range bad {
				if float64(n) > unsettled[l.Name+" "+name]*float64(points) {
					t.Errorf("%s: %d of %d points are off", name, n, points)
				}
			}
		})
	}
}

// arrayFamily returns a family for arrays of the size of a block, whose order is part of the definition.
func arrayFamily(l dist.Family, block arrayBlock) dist.Family {
	if l.Name == "lkjcholesky" {
		k := block.arrays[0].shape[0]
		l.Make = func(p ...any) dist.Dist { return dist.LKJCholesky(k, p[0]) }
	}
	return l
}

func compareArrays(t *testing.T, l dist.Family, block arrayBlock, name string, graph func(d dist.Dist, x *ad.Node) *ad.Node, refs []reference, bad map[string]int) {
	t.Helper()
	eval := arrayEvaluator(t, l, block, graph)
	for i, in := range block.inputs {
		want := refs[i]
		value, slopes := eval(in)
		ofValue, _ := floors(name, want.value, 0)
		if !closeTo(value, want.value, 1e-8, rounding*want.moves+ofValue) {
			if bad[name]++; bad[name] <= 6 {
				t.Logf("%s of %s(%v) is %.10g, want %.10g", name, l.Name, in, value, want.value)
			}
			continue
		}
		at := len(in) - len(slopes)
		if name != "LogProb" {
			alongSimplex(block.arrays, slopes, want.slopes)
		}
		for j, got := range slopes {
			slope, size := want.slopes[j], in[at+j]
			_, ofSlope := floors(name, want.value, size)
			if math.IsNaN(slope) || closeTo(got, slope, 1e-5, rounding*math.Abs(slope)*want.steepens[j]+ofSlope) {
				continue
			}
			if bad[name]++; bad[name] <= 6 {
				t.Logf("the derivative of %s of %s(%v) = %g with respect to number %d is %.10g, want %.10g", name, l.Name, in, value, at+j, got, slope)
			}
			break
		}
	}
}

// alongSimplex removes from derivatives of tails with respect to probabilities, which are each -1/P, 0 or 1/P, the one
// that leads out of the simplex.
func alongSimplex(arrays []pointArray, got, want []float64) {
	for _, a := range arrays {
		if a.kind == 'w' {
			continue
		}
		n := len(a.places())
		if a.kind == 'p' {
			for _, s := range [][]float64{got[:n], want[:n]} {
				for i := n - 1; i >= 0; i-- {
					s[i] -= s[0]
				}
			}
		}
		got, want = got[n:], want[n:]
	}
}

// arrayEvaluator returns a function of the free numbers, and its derivatives with respect to those that are not whole,
// which come last.
func arrayEvaluator(t *testing.T, l dist.Family, block arrayBlock, graph func(d dist.Dist, x *ad.Node) *ad.Node) func(in []float64) (float64, []float64) {
	t.Helper()
	var inputs, free []*ad.Node
	var args []any
	for _, a := range block.arrays {
		n := ad.Input("x", a.shape...)
		if inputs = append(inputs, n); len(inputs) > 1 {
			args = append(args, n)
		}
		if a.kind != 'w' {
			free = append(free, n)
		}
	}
	y := graph(l.Make(args...), inputs[0])
	prog, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, free...)...), ad.Settings{Inputs: inputs, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := prog.NewState()
	return func(in []float64) (float64, []float64) {
		for i, a := range block.arrays {
			for k, places := range a.places() {
				for _, p := range places {
					s.Input(i)[p] = in[k]
				}
			}
			in = in[len(a.places()):]
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		var slopes []float64
		output := 1
		for _, a := range block.arrays {
			if a.kind == 'w' {
				continue
			}
			g := s.Output(output)
			for _, places := range a.places() {
				sum := 0.0
				for _, p := range places {
					sum += g[p]
				}
				slopes = append(slopes, sum)
			}
			output++
		}
		return s.Output(0)[0], slopes
	}
}
