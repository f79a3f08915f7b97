// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/tensor"
)

type side struct {
	Consistent bool           `json:"consistent"`
	DynamicN   [2]int         `json:"dynamic_num_pts"`
	StaticN    [2]int         `json:"static_num_pts"`
	DynamicMap []int          `json:"dynamic_index_mapping"`
	StaticMap  []int          `json:"static_index_mapping"`
	Dynamic0   []golden.Float `json:"dynamic_v_list_dim0"`
	Dynamic1   []golden.Float `json:"dynamic_v_list_dim1"`
	Static0    []golden.Float `json:"static_v_list_dim0"`
	Static1    []golden.Float `json:"static_v_list_dim1"`
}

type micro struct {
	A       []int32   `json:"pack1"`
	B       []int32   `json:"pack2"`
	N       [2]int    `json:"num_pts"`
	Map     [][]int32 `json:"roi_map"`
	Mapping []int     `json:"index_mapping"`
}

type expected struct {
	Single []struct {
		Name    string         `json:"name"`
		Map     string         `json:"map"`
		Mask    string         `json:"mask"`
		N       int            `json:"num_pts"`
		Style   string         `json:"style"`
		Offset  float64        `json:"phi_offset"`
		Fold    int            `json:"symmetry_fold"`
		Centers []golden.Float `json:"v_list_aps"`
	} `json:"single"`
	Combined []struct {
		Name   string `json:"name"`
		Config struct {
			DQ int `json:"dq"`
			SQ int `json:"sq"`
			DP int `json:"dp"`
			SP int `json:"sp"`
		} `json:"config"`
		Mask   string            `json:"mask"`
		Style  string            `json:"style"`
		Offset float64           `json:"phi_offset"`
		Fold   int               `json:"symmetry_fold"`
		Names  [2]string         `json:"map_names"`
		APS    side              `json:"aps"`
		Hash   string            `json:"hash_sha256_aps"`
		Types  map[string]string `json:"hash_input_dtypes"`
	} `json:"combined"`
	Shrink []struct {
		Values []int64 `json:"values"`
		In     string  `json:"in_dtype"`
		Out    string  `json:"out_dtype"`
	} `json:"optimize_integer_array"`
	Multiple []struct{ A, B, Result int } `json:"least_multiple"`
	Checks   []struct {
		Dynamic    [][]int32 `json:"dqmap"`
		Static     [][]int32 `json:"sqmap"`
		Mask       [][]int32 `json:"mask"`
		Consistent bool      `json:"consistent"`
	} `json:"check_consistency"`
	Micro  []micro `json:"combine_micro"`
	Defect micro   `json:"combine_zero_in_second_map_DEFECT"`
}

func expect(t *testing.T) (e expected) {
	golden.JSON(t, &e, "xpcs", "partition", "expected.json")
	return e
}

func array(t *testing.T, name string) []float64 {
	t.Helper()
	f, err := os.Open(filepath.Join(golden.Path(t, "xpcs/partition"), name+".npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := tensor.ReadNPY(f)
	if err != nil {
		t.Fatal(err)
	}
	return a.Float64s()
}

func mask(t *testing.T, name string) []bool {
	v := array(t, "in_"+name)
	m := make([]bool, len(v))
	for i := range v {
		m[i] = v[i] > 0
	}
	return m
}

func sameMap(t *testing.T, what string, got []int32, want []float64) {
	t.Helper()
	for i, w := range want {
		if float64(got[i]) != w {
			t.Errorf("%s: pixel %d is in bin %d, want %v", what, i, got[i], w)
			return
		}
	}
}

func centers(t *testing.T, what string, got []float64, want []golden.Float) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-float64(w)) <= 1e-12*math.Max(math.Abs(float64(w)), 1e-3)) {
			t.Errorf("%s: centre %d is %v, want %v", what, i, got[i], w)
		}
	}
}

// TestGoldenBins compares bins along one axis with pySimpleMask's.
func TestGoldenBins(t *testing.T) {
	for _, c := range expect(t).Single {
		b, err := Divide(Axis{Name: c.Map, Values: array(t, "in_"+c.Map), Log: c.Style == "logarithmic", Offset: c.Offset, Fold: c.Fold}, mask(t, c.Mask), c.N)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if len(b.Centers) != c.N {
			t.Errorf("%s: %d centres for %d bins", c.Name, len(b.Centers), c.N)
		}
		sameMap(t, c.Name, b.Of, array(t, c.Name+"_aps"))
		centers(t, c.Name, b.Centers, c.Centers)
	}
}

// TestGoldenCells compares crossed bins, their cells, consistency and hash.
func TestGoldenCells(t *testing.T) { goldenCells(t, nil) }

func TestGoldenCellsOnDevice(t *testing.T) {
	pretend.Shared(t)
	goldenCells(t, ad.CUDA{})
}

func goldenCells(t *testing.T, backend ad.Backend) {
	for _, c := range expect(t).Combined {
		m := mask(t, c.Mask)
		axis := func(i int) Axis {
			a := Axis{Name: c.Names[i], Values: array(t, "in_"+c.Names[i])}
			if a.Name == "q" {
				a.Log = c.Style == "logarithmic"
			}
			if a.Name == "phi" {
				a.Offset, a.Fold = c.Offset, c.Fold
			}
			return a
		}
		cells := func(n0, n1 int) *Cells {
			a, err := Divide(axis(0), m, n0)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Divide(axis(1), m, n1)
			if err != nil {
				t.Fatal(err)
			}
			return Combine(a, b)
		}
		d, s := cells(c.Config.DQ, c.Config.DP), cells(c.Config.SQ, c.Config.SP)
		if backend != nil {
			p, err := New(axis(0), axis(1), m, Settings{Dynamic: d.N, Static: s.N, Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			if d = p.Dynamic; p.Static.N == s.N {
				s = p.Static
			}
		}
		sameMap(t, c.Name+" dynamic", d.Of, array(t, c.Name+"_dynamic_aps"))
		sameMap(t, c.Name+" static", s.Of, array(t, c.Name+"_static_aps"))
		whole(t, c.Name+" dynamic cells", d.Cell, c.APS.DynamicMap)
		whole(t, c.Name+" static cells", s.Cell, c.APS.StaticMap)
		centers(t, c.Name, d.Centers[0], c.APS.Dynamic0)
		centers(t, c.Name, d.Centers[1], c.APS.Dynamic1)
		centers(t, c.Name, s.Centers[0], c.APS.Static0)
		centers(t, c.Name, s.Centers[1], c.APS.Static1)
		if d.N != c.APS.DynamicN || s.N != c.APS.StaticN {
			t.Errorf("%s: grids %v and %v, want %v and %v", c.Name, d.N, s.N, c.APS.DynamicN, c.APS.StaticN)
		}
		if err := Check(m, d.Of, s.Of); (err == nil) != c.APS.Consistent {
			t.Errorf("%s: %v, want consistent %v", c.Name, err, c.APS.Consistent)
		}
		if c.Hash != "" {
			// the last bits of logarithmic centres depend on the power function, and the hash on every bit
			d.Centers, s.Centers = [2][]float64{floats(c.APS.Dynamic0), floats(c.APS.Dynamic1)}, [2][]float64{floats(c.APS.Static0), floats(c.APS.Static1)}
			if got := hashLike(t, c.Types, m, d, s); got != c.Hash {
				t.Errorf("%s: hash %s, want %s", c.Name, got, c.Hash)
			}
		}
	}
}

func floats(v []golden.Float) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// hashLike hashes what the reference says it did: arrays of ours, and its own texts.
func hashLike(t *testing.T, types map[string]string, m []bool, d, s *Cells) string {
	t.Helper()
	var fields []Field
	for key, kind := range types {
		f := Field{Key: key}
		text, isText := strings.CutPrefix(kind, "json:")
		if isText {
			f.Value = parsed(t, text)
		} else {
			c := d
			if strings.HasPrefix(key, "static_") {
				c = s
			}
			switch {
			case key == "mask":
				f.Value = m
			case key == "blemish":
				f.Value = make([]bool, len(m))
				for i := range m {
					f.Value.([]bool)[i] = true
				}
			case strings.HasSuffix(key, "roi_map"):
				f.Value = c.Of
			case strings.HasSuffix(key, "index_mapping"):
				f.Value = c.Cell
			case strings.HasSuffix(key, "dim0"):
				f.Value = c.Centers[0]
			case strings.HasSuffix(key, "dim1"):
				f.Value = c.Centers[1]
			default:
				t.Fatalf("key %s of the hash is not known", key)
			}
		}
		fields = append(fields, f)
	}
	h, err := Hash(fields)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// parsed turns JSON into what Hash takes, keeping whole numbers apart from floats.
func parsed(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		f, _ := v.Float64()
		return f
	case []any:
		var texts []string
		var list List
		for _, x := range v {
			if s, ok := x.(string); ok {
				texts = append(texts, s)
			} else if n, err := x.(json.Number).Int64(); err == nil {
				list = append(list, int(n))
			}
		}
		if list != nil {
			return list
		}
		return texts
	}
	return v
}

func whole(t *testing.T, what string, got, want []int) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: number %d is %d, want %d", what, i, got[i], want[i])
			return
		}
	}
}

// TestGoldenSmall compares the small cases: types, multiples, consistency, and crossing by hand.
func TestGoldenSmall(t *testing.T) {
	e := expect(t)
	for _, c := range e.Shrink {
		if want := strings.TrimPrefix(c.Out, "u"); want != map[int]string{1: "int8", 2: "int16", 4: "int32", 8: "int64"}[Width(c.Values)] {
			t.Errorf("%v takes %d bytes, want %s", c.Values, Width(c.Values), c.Out)
		}
	}
	for _, c := range e.Multiple {
		if got := LeastMultiple(c.A, c.B); got != c.Result {
			t.Errorf("the least multiple of %d above %d is %d, want %d", c.A, c.B, got, c.Result)
		}
	}
	for i, c := range e.Checks {
		var m []bool
		var d, s []int32
		for r := range c.Mask {
			for k := range c.Mask[r] {
				m, d, s = append(m, c.Mask[r][k] > 0), append(d, c.Dynamic[r][k]), append(s, c.Static[r][k])
			}
		}
		if err := Check(m, d, s); (err == nil) != c.Consistent {
			t.Errorf("check %d: %v, want consistent %v", i, err, c.Consistent)
		}
	}
	for i, c := range append(e.Micro, e.Defect) {
		cells := Combine(&Bins{c.A, make([]float64, c.N[0])}, &Bins{c.B, make([]float64, c.N[1])})
		if i < len(e.Micro) {
			sameInts(t, cells.Of, c.Map[0])
			whole(t, "cells", cells.Cell, c.Mapping)
			continue
		}
		// Where only the second map is masked, the reference makes a cell of it; ours is masked.
		for k, of := range cells.Of {
			if (of > 0) != (c.A[k] > 0 && c.B[k] > 0) {
				t.Errorf("pixel of bins %d and %d is in cell %d", c.A[k], c.B[k], of)
			}
		}
	}
}

func sameInts(t *testing.T, got, want []int32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("pixel %d is in cell %d, want %d", i, got[i], want[i])
		}
	}
}
