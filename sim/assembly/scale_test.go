// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
)

// Areas of a hundred thousand and a million neurons, all of which exist.
func TestScaleGoldens(t *testing.T) {
	var f struct {
		Cases []struct {
			Seed    uint64
			N, K    int
			P, Beta float64
			Fibers  map[string]uint64
			Rounds  []struct {
				Kth, Kplus1 float64
				Sum         float64 `json:"sum_winner_input"`
				Kept        int
				Support     int
				Hash        string `json:"fnv1a64"`
			}
			Strengthened int `json:"strengthened_recurrent_synapses"`
		}
	}
	golden.JSON(t, &f, "assemblies", "procedural_scale_goldens.json")
	for _, c := range f.Cases {
		t.Run(fmt.Sprint(c.N), func(t *testing.T) {
			if c.N > 1e5 && !tier.Slow {
				t.Skip("hashing every pair takes half a minute")
			}
			number := map[string]uint64{"S": c.Fibers["stimulus"], "A": c.Fibers["recurrent"]}
			b := New(Settings{P: c.P, Connect: Hashed(c.Seed, func(from, _ string) uint64 { return number[from] })})
			check(t, b.AddStimulus("S", c.K))
			check(t, b.AddArea(Area{Name: "A", N: c.N, K: c.K, Beta: c.Beta}))
			for i, want := range c.Rounds {
				fibres := "S>A A>A"
				if i == 0 {
					fibres = "S>A"
				}
				trace, err := b.project(1, fibres)
				check(t, err)
				r := trace[0][0]
				if h := hash(r.Winners); h != want.Hash || r.Support != want.Support || r.Kept != want.Kept {
					t.Fatalf("round %d: winners %s, support %d, kept %d; want %s, %d, %d", i, h, r.Support, r.Kept, want.Hash, want.Support, want.Kept)
				}
				for _, x := range [][2]float64{{r.Kth, want.Kth}, {r.Next, want.Kplus1}, {r.Input, want.Sum}} {
					if math.Abs(x[0]-x[1]) > 1e-8*x[1] {
						t.Errorf("round %d: input %.10g, want %.10g", i, x[0], x[1])
					}
				}
			}
			changed := 0
			for _, r := range b.byName[[2]string{"A", "A"}].synapses.rows {
				changed += len(r.to)
			}
			if changed != c.Strengthened {
				t.Errorf("%d synapses have grown, want %d", changed, c.Strengthened)
			}
		})
	}
}

// hash is FNV-1a over the sorted winners, four bytes each.
func hash(winners []int32) string {
	h := fnv.New64a()
	for _, w := range ids(winners) {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(w)))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
