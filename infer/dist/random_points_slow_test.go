// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package dist_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

func init() { thorough = true }

// pointSet holds the random points of a family and what testdata/random_points.py computed there with hundreds of digits.
type pointSet struct {
	inputs  [][]float64            // the value and the parameters, of each point
	results map[string][]reference // of each function, at each point
}

// reference holds a value and its derivatives, and how many units each derivative moves for one of its inputs, all
// relative. For arrays, moves is how far the value moves for a relative change of 1 of all inputs.
type reference struct {
	value, moves     float64
	slopes, steepens []float64
}

// columns reads columns of the first bytes of big-endian numbers, each as planes of bytes, from files of random_points.py
// and random_arrays.py.
type columns struct {
	b []byte
	n int // length of each column
}

func (c *columns) take(n int) []byte {
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

func (c *columns) column(width int) []float64 {
	planes, out := c.take(width*c.n), make([]float64, c.n)
	for i := range out {
		var word [8]byte
		for plane := range width {
			word[plane] = planes[plane*c.n+i]
		}
		out[i] = math.Float64frombits(binary.BigEndian.Uint64(word[:]))
	}
	return out
}

// powers reads binary logarithms.
func (c *columns) powers(least int) []float64 {
	out := make([]float64, c.n)
	for i, b := range c.take(c.n) {
		out[i] = math.Ldexp(1, int(b)-least)
	}
	return out
}

// references reads the results of a function with n derivatives.
func (c *columns) references(n int, moves bool) []reference {
	refs := make([]reference, c.n)
	for i, v := range c.column(5) {
		refs[i].value = v
	}
	if moves {
		for i, v := range c.powers(128) {
			refs[i].moves = v
		}
	}
	for range n {
		slopes, steepens := c.column(4), c.powers(0)
		for i := range refs {
			refs[i].slopes, refs[i].steepens = append(refs[i].slopes, slopes[i]), append(refs[i].steepens, steepens[i])
		}
	}
	return refs
}

func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readPoints reads a file of random_points.py.
func readPoints(t *testing.T, path string) pointSet {
	t.Helper()
	b := unzipped(t, path)
	has, params, discrete, n := b[0], int(b[1]), int(b[2]), int(binary.BigEndian.Uint32(b[3:]))
	c := columns{b[7:], n}
	set := pointSet{inputs: make([][]float64, n), results: map[string][]reference{}}
	for range params + 1 {
		for i, v := range c.column(3) {
			set.inputs[i] = append(set.inputs[i], v)
		}
	}
	for k, name := range []string{"LogProb", "LogCDF", "LogCCDF", "CDF"} {
		if has>>k&1 == 1 {
			set.results[name] = c.references(params+1-discrete, false)
		}
	}
	if len(c.b) != 0 {
		t.Fatalf("%s has %d bytes too many", path, len(c.b))
	}
	return set
}

// unsettled lists derivatives that still cancel where parameters are extreme, with the largest share of the points: those of
// tails with respect to one of two degrees of freedom, or to the size of a negative binomial distribution, that is above
// 1e10, where the tail no longer depends on it, and that of PERT with respect to its lower end at the mode for a shape of
// 1e13. For Student's t, derivatives leave the range of float64 on the way. Values are right everywhere. The list may only shrink.
var unsettled = map[string]float64{"f LogCDF": 0.005, "f LogCCDF": 0.002, "negbinomial2 LogCDF": 0.0045, "negbinomial2 LogCCDF": 0.0015,
	"negbinomial2log LogCDF": 0.0065, "studentt LogCCDF": 0.0005, "pert LogProb": 0.0005}

// Log densities, tails and their derivatives agree with references of many digits at 2,000 random points per family and
// function, with parameters and values over their whole range. Every family of numbers has references.
func TestRandomPoints(t *testing.T) {
	for _, l := range dist.All() {
		if l.Shapes != nil || l.Name == "pointmass" {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			set := readPoints(t, filepath.Join("testdata", "random_points", l.Name+".bin.gz"))
			if len(set.inputs) < 2000 {
				t.Errorf("there are %d points: want 2,000", len(set.inputs))
			}
			d := l.New(l.At[0]...)
			for name, has := range map[string]bool{"LogProb": true, "LogCDF": d.LogCDFOf != nil, "LogCCDF": d.LogCCDFOf != nil} {
				switch refs := set.results[name]; {
				case has && refs == nil:
					t.Errorf("%s has no references: extend testdata/reference_families.py", name)
				case has:
					comparePoints(t, l, name, set.inputs, refs)
				}
			}
			switch refs := set.results["CDF"]; {
			case d.LogCDFOf != nil:
				compareCDF(t, l, set.inputs, set.results["LogCDF"])
			case refs == nil:
				t.Error("CDF has no references: extend testdata/reference_cdf.py")
			default:
				compareCDF(t, l, set.inputs, refs)
			}
		})
	}
}

func comparePoints(t *testing.T, l dist.Family, name string, inputs [][]float64, refs []reference) {
	t.Helper()
	eval := pointEvaluator(t, l, graphs[name])
	discrete := 0
	if l.New(l.At[0]...).Discrete {
		discrete = 1
	}
	checked, bad := 0, 0
	var kinds [8]int
	for i, in := range inputs {
		want := refs[i]
		if math.IsNaN(want.value) {
			continue
		}
		checked++
		got := eval(in)
		slack := 0.0 // what half a unit in the last place of the inputs does to the value
		for j, slope := range want.slopes {
			if !math.IsNaN(slope) {
				slack += math.Abs(slope * in[j+discrete])
			}
		}
		wrong := -1
		ofValue, _ := floors(name, want.value, 0)
		if !closeTo(got[0], want.value, 1e-8, rounding*slack+ofValue) {
			wrong = 0
		}
		for j, slope := range want.slopes {
			k := j + discrete
			size := in[k]
			if size == 0 { // a location of 0 is as large as the value
				size = in[0]
			}
			_, ofSlope := floors(name, want.value, size)
			whole := k > 0 && l.Want[k-1].Whole
			if wrong < 0 && !whole && math.IsNaN(got[1+k]) { // where the reference has none, there is a kink
				wrong = 1 + k
			}
			leaves := math.Abs(slope)*math.Abs(size) > 1e300 // the range of float64, on the way
			if wrong < 0 && !whole && !leaves && !math.IsNaN(slope) &&
				!closeTo(got[1+k], slope, 1e-5, rounding*math.Abs(slope)*want.steepens[j]+ofSlope) {
				wrong = 1 + k
			}
		}
		if wrong < 0 {
			continue
		}
		kinds[wrong]++
		if bad++; bad <= 6 {
			t.Logf("%s of %s(%v) at %g: output %d is %.10g, want %.10g", name, l.Name, in[1:], in[0], wrong, got[wrong], append([]float64{want.value}, append(make([]float64, discrete), want.slopes...)...)[wrong])
		}
	}
	if share := float64(bad) / float64(max(1, checked)); share > unsettled[l.Name+" "+name] || kinds[0] > 0 {
		t.Errorf("%s: %d of %d points are off, by output %v", name, bad, checked, kinds[:len(inputs[0])+1])
	}
}

// manyTerms is how many outcomes a distribution may have whose CDF is a sum over all of them, for the test to end.
const manyTerms = 1e5

// compareCDF compares the function of numbers CDF with the references of its logarithm, which have 29 bits.
func compareCDF(t *testing.T, l dist.Family, inputs [][]float64, refs []reference) {
	t.Helper()
	bad, d := 0, l.New(l.At[0]...)
	for i, ref := range refs {
		in := inputs[i]
		if math.IsNaN(ref.value) || l.Name == "betabinomial" && in[1] > manyTerms || l.Name == "hypergeometric" && in[2] > manyTerms {
			continue
		}
		want, moves := math.Exp(ref.value), 0.0
		for j, slope := range ref.slopes {
			if !math.IsNaN(slope) {
				moves += math.Abs(slope * in[len(in)-len(ref.slopes)+j])
			}
		}
		got := d.CDF(in[0], in[1:])
		if near := 1e-8*want*(1+math.Abs(ref.value)) + want*rounding*moves; want == 0 && got < 1e-290 || math.Abs(got-want) <= near+1e-290 {
			continue
		}
		if bad++; bad <= 6 {
			t.Logf("CDF of %s(%v) at %g is %.10g, want %.10g", l.Name, in[1:], in[0], got, want)
		}
	}
	if bad > 0 {
		t.Errorf("CDF: %d of %d points are off", bad, len(refs))
	}
}

// rounding is how far results may be off because of rounding, in units of their change for a relative change of 1 of each
// input: a few units in the last place for each step of the computation.
const rounding = 32 * 0x1p-53

// resolution is how far a log density, which is a sum of terms that may cancel, may be off for that reason, and how far
// derivatives may be off in what they say about a relative change of their input: of a log density by itself, of the
// logarithm of a tail relative to it.
const resolution = 1e-11

// least is where numbers begin to leave the range of float64.
const least = 1e-290

func floors(name string, value, input float64) (ofValue, ofSlope float64) {
	if name == "LogProb" {
		ofValue, value = resolution, 1
	}
	if input != 0 {
		ofSlope = max(resolution*math.Abs(value), least) / math.Abs(input)
	}
	return ofValue, ofSlope
}

// closeTo compares results that are in the range of float64.
func closeTo(got, want, relative, absolute float64) bool {
	switch size := math.Abs(want); {
	case math.IsInf(want, 0):
		return got == want || size > 0 && math.Abs(got) > 1e300
	case size > 1e300:
		return math.Abs(got) > 1e299 && !math.IsNaN(got) && math.Signbit(got) == math.Signbit(want)
	case size < least && absolute == 0:
		return math.Abs(got) < 1e-280
	default:
		return math.Abs(got-want) <= relative*size+absolute+least
	}
}

func pointEvaluator(t *testing.T, l dist.Family, graph func(d dist.Dist, x *ad.Node) *ad.Node) func(in []float64) []float64 {
	t.Helper()
	inputs, args := []*ad.Node{ad.Input("x")}, []any{}
	for _, name := range l.Params {
		inputs = append(inputs, ad.Input(name))
		args = append(args, inputs[len(inputs)-1])
	}
	y := graph(l.Make(args...), inputs[0])
	prog, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, inputs...)...), ad.Settings{Inputs: inputs, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", l.Name, err))
	}
	s := prog.NewState()
	return func(in []float64) []float64 {
		for i, v := range in {
			s.Input(i)[0] = v
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(s.OutputSpan(0, len(in)+1))
	}
}
