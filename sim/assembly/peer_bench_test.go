// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/euryale-dev/euryale/internal/peer"
)

// BenchmarkPeerAssembly forms an assembly in 25 steps, in lazy and in whole areas, and
// merges two in 52 and associates two in 50 steps of lazy areas. The peer in C++ draws new neurons from a normal
// distribution and forgets losers, which is the law of the rows of merging "by the law of the engine".
func BenchmarkPeerAssembly(b *testing.B) {
	for _, c := range []struct {
		operation string
		n, k      int
		p         float64
		python    bool // whether the reference in Python takes less than a minute
	}{
		{"project", 1e4, 100, 0.01, true}, {"project", 1e5, 317, 0.01, false}, {"project", 1e6, 1000, 0.01, false},
		{"explicit", 1e4, 100, 0.05, false}, {"explicit", 1e5, 317, 0.01, false},
		{"merge", 1e4, 100, 0.05, false}, {"merge", 1e5, 317, 0.01, false},
		{"normal", 1e4, 100, 0.05, false}, {"normal", 1e5, 317, 0.01, false},
		{"associate", 1e4, 100, 0.05, false}, {"associate", 1e5, 317, 0.05, false},
	} {
		beta := 0.05
		theirs, what := c.operation, c.operation
		if theirs == "normal" {
			theirs, what = "merge", "merge, by the law of the engine,"
		}
		if c.operation == "associate" {
			beta = 0.1
		}
		numbers := []string{theirs, fmt.Sprint(c.n), fmt.Sprint(c.k), fmt.Sprint(c.p), fmt.Sprint(beta)}
		peers := []peer.Rival{{Name: "C++", Script: "assembly.py", Args: append([]string{"c++"}, numbers...)}}
		if c.python {
			peers = append(peers, peer.Rival{Name: "brain.py", Script: "assembly.py", Args: append([]string{"brain.py"}, numbers...)})
		}
		b.Run(fmt.Sprintf("%s/%.0e", c.operation, float64(c.n)), func(b *testing.B) {
			seed := uint64(0)
			peer.Race{
				Name: fmt.Sprintf("%s in areas of %.0e neurons, K = %d, p = %g", what, float64(c.n), c.k, c.p),
				Ours: func() (peer.Done, error) {
					seed++
					set := Settings{P: c.p, Seed: seed, Threads: runtime.GOMAXPROCS(0)}
					switch c.operation {
					case "explicit":
						check(b, form25(exactBrain(b, set, c.n, c.k)))
					case "normal":
						set.Lazy = Normal
						carriedOut(b, set, c.n, c.k, beta, "SA SB", "A B C", merge52)
					case "associate":
						set.Activity = Silent
						carriedOut(b, set, c.n, c.k, beta, "SA SB", "A B C", associate50)
					case "merge":
						carriedOut(b, set, c.n, c.k, beta, "SA SB", "A B C", merge52)
					default:
						carriedOut(b, set, c.n, c.k, beta, "S", "A", form25)
					}
					return peer.Done{Check: math.NaN()}, nil
				},
				Peers: peers,
			}.Run(b)
		})
	}
}
