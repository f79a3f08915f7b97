// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"encoding/json"
	"math"
	"testing"
)

// Case is one case of a family file: an operation, its inputs and the outputs
// that a reference computed.
type Case struct {
	ID      string
	Op      string
	Attrs   map[string]any
	Inputs  map[string]Input
	Outputs map[string]Output
	Special struct{ X, Y []Float }
}

// Input describes an array by its numbers or by a counter-based generator.
type Input struct {
	Shape  []int
	Gen    string
	Seed   uint64
	Lo, Hi float64
	N      int
	Data   []Float
}

// Output is an array, or a sample of a large one.
type Output struct {
	Shape  []int
	Data   []Float
	Index  []int   `json:"sample_index"`
	Sample []Float `json:"sample"`
}

// Family reads the cases of one family file, or skips the test.
func Family(t testing.TB, elem ...string) []Case {
	t.Helper()
	var f struct{ Cases []Case }
	JSON(t, &f, elem...)
	return f.Cases
}

// Values returns the elements, row-major.
func (in Input) Values() []float64 {
	n := 1
	for _, d := range in.Shape {
		n *= d
	}
	out := make([]float64, n)
	for i := range out {
		switch in.Gen {
		case "uniform":
			out[i] = float64(float32(in.Lo + (in.Hi-in.Lo)*splitmix(in.Seed, uint64(i))))
		case "splitmix":
			out[i] = splitmix(in.Seed, uint64(i))
		case "int":
			out[i] = math.Floor(splitmix(in.Seed, uint64(i)) * float64(in.N))
		default:
			out[i] = float64(in.Data[i])
		}
	}
	return out
}

// splitmix returns element i of the counter-based splitmix64 stream, in [0, 1).
func splitmix(seed, i uint64) float64 {
	z := seed + (i+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return float64(z>>11) * 0x1p-53
}

// Norm returns ||got - want|| / ||want|| over the elements that the reference contains (absolute if
// the reference is 0). Non-finite elements must agree; if they do not, or the lengths differ, it
// returns +Inf.
func (o Output) Norm(got []float64) float64 {
	want := o.Data
	if o.Index != nil {
		want = o.Sample
		picked := make([]float64, len(o.Index))
		for i, k := range o.Index {
			picked[i] = got[k]
		}
		got = picked
	}
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var d2, w2 float64
	for i, w := range want {
		w, g := float64(w), got[i]
		if math.IsNaN(w) || math.IsInf(w, 0) || math.IsNaN(g) {
			if w != g && !(math.IsNaN(w) && math.IsNaN(g)) {
				return math.Inf(1)
			}
			continue
		}
		d2 += (g - w) * (g - w)
		w2 += w * w
	}
	if w2 == 0 {
		return math.Sqrt(d2)
	}
	return math.Sqrt(d2 / w2)
}

// UnmarshalJSON accepts a bare number where an array has no axes.
func (o *Output) UnmarshalJSON(b []byte) error {
	type plain struct {
		Shape  []int
		Data   json.RawMessage
		Index  []int   `json:"sample_index"`
		Sample []Float `json:"sample"`
	}
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	o.Shape, o.Index, o.Sample = p.Shape, p.Index, p.Sample
	if len(p.Data) == 0 {
		return nil
	}
	if p.Data[0] == '[' {
		return json.Unmarshal(p.Data, &o.Data)
	}
	o.Data = make([]Float, 1)
	return json.Unmarshal(p.Data, &o.Data[0])
}
