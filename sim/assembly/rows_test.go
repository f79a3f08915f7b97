// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainRows are rows as maps from targets to weights.
type plainRows []map[int32]float32

func (p plainRows) clone() (c plainRows) {
	for _, row := range p {
		c = append(c, maps.Clone(row))
	}
	return c
}

// Rows hold, add and strengthen the same synapses as maps do, with 32 and with 64 bits, and copies do not change each other.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := newRandomStream(rapid.Uint64().Draw(t, "seed"), 1, 0)
		f := &fibre{target: &area{fired: make([]bool, 200)}, rows: newRows()}
		var plain plainRows
		for range 12 {
			var targets []int32
			row := map[int32]float32{}
			for j := range int32(100) {
				if src.below(3) == 0 {
					targets, row[j] = append(targets, j), 1
				}
			}
			f.begin(targets, nil)
			plain = append(plain, row)
		}
		other, same := &fibre{target: f.target, rows: f.rows.clone()}, plain.clone()
		g := growth{Additive, 0.1, 5}
		for step := range int32(60) {
			sources := []int32{int32(src.below(6)), 6 + int32(src.below(6))}
			j := 100 + step
			f.rows.link(sources, j)
			for _, i := range sources {
				plain[i][j] = 1
			}
			if src.below(20) == 0 {
				f.rows = f.rows.widened()
			}
			marked := make([]uint8, 201)
			for range 30 {
				marked[1+src.below(200)] = 1
			}
			f.rows.visit(sources)
			grown, _ := f.rows.among(nil, marked)
			if done := f.rows.strengthen(grown, make([]float64, 201), g); done != len(grown) {
				t.Fatalf("%d of %d synapses grow", done, len(grown))
			}
			for _, i := range sources {
				for j, w := range plain[i] {
					if marked[j+1] != 0 {
						plain[i][j] = float32(g.function()(float64(w)))
					}
				}
			}
			x, want := make([]float64, 201), make([]float64, 201)
			f.rows.add(x)
			for _, i := range sources {
				for j, w := range plain[i] {
					want[j+1] += float64(w)
				}
			}
			if x[0], want[0] = 0, 0; !slices.Equal(x, want) {
				t.Fatalf("inputs %v, want %v", x, want)
			}
		}
		same.compare(t, other.rows)
		plain.compare(t, f.rows)
	})
}

func (p plainRows) compare(t *rapid.T, r rows) {
	for i, row := range p {
		got := map[int32]float32{}
		last := int32(-1)
		r.each(int32(i), func(j int32, w float32) {
			if j <= last {
				t.Fatalf("target %d follows %d", j, last)
			}
			got[j], last = w, j
		})
		if !maps.Equal(got, row) {
			t.Fatalf("row %d is %v, want %v", i, got, row)
		}
	}
}

// Rows become wider if they have too many different weights or targets.
func TestRowsWiden(t *testing.T) {
	f := &fibre{from: &area{}, target: &area{fired: make([]bool, 9)}, rows: newRows(), recent: recentSums{}.invalid()}
	b := New(Settings{})
	f.begin([]int32{3, 8}, nil)
	b.isWinner = []uint8{0, 0, 0, 0, 1, 0, 0, 0, 0, 0}
	g := growth{Additive, 1e-4, 5}
	want := float32(1)
	for range 5000 {
		f.strengthenRows(b, g, []int32{0}, 1)
		want = float32(g.function()(float64(want)))
	}
	if got := f.weight(b, 0, 3); got != float64(want) || f.weight(b, 0, 8) != 1 || !f.rows.holds(1<<21) {
		t.Errorf("weight %v, want %v", got, want)
	}
	narrow := newRows()
	if narrow.holds(1<<20) || !narrow.holds(1<<20-2) || !narrow.widened().holds(1<<31-1) {
		t.Error("rows do not know how many targets they hold")
	}
}

// The largest inputs of a lazy area come in order, and among equals those of lower rank.
func TestRanked(t *testing.T) {
	var r ranked
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		m := rapid.IntRange(0, n).Draw(t, "m")
		kinds := rapid.SampledFrom([]float64{1, 5, 1000}).Draw(t, "kinds")
		shift := rapid.SampledFrom([]float64{0, -2, 0.5}).Draw(t, "shift")
		src := newRandomStream(rapid.Uint64().Draw(t, "seed"), 1, 0)
		x, ranks, want := make([]float64, n), make([]float64, n), make([]int32, n)
		for j := range x {
			x[j], want[j] = float64(src.below(int(kinds)))*1.05+shift, int32(j)
			ranks[j] = []float64{src.uniform(), 0.5, 0.5 + 1e-12*src.uniform()}[src.below(3)]
		}
		slices.SortFunc(want, func(i, j int32) int {
			return cmp.Or(cmp.Compare(roundedTo(singleBits, x[j]), roundedTo(singleBits, x[i])), cmp.Compare(ranks[i], ranks[j]), cmp.Compare(i, j))
		})
		for i, e := range r.best(x, ranks, m) {
			if e.j != want[i] || e.x != roundedTo(singleBits, x[e.j]) {
				t.Fatalf("place %d is %v, want neuron %d", i, e, want[i])
			}
		}
	})
}

// TestRowsEnd stops before the numbers of chunks are used up, after which synapses would overwrite each other.
func TestRowsEnd(t *testing.T) {
	r := newRows().(*rowsOf[uint32])
	r.begin([]int32{0}, nil)
	r.chunks = maxChunks
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "4026531840 synapses") || !strings.Contains(text, "use fewer") {
			t.Errorf("beyond the last chunk: %s", text)
		}
	}()
	r.begin([]int32{0}, nil)
}
