// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/peer"
)

// BenchmarkPeerPosteriors samples the posteriors of the reference that scripts/peers/infer.py
// has too: 4 chains of 1000 + 1000 draws at the defaults. The unit is an effective draw of
// the stored quantity that has fewest.
func BenchmarkPeerPosteriors(b *testing.B) {
	for _, c := range problems(b) {
		switch c.name {
		case "eight_schools-eight_schools_noncentered", "arK-arK", "low_dim_gauss_mix-low_dim_gauss_mix", "sblrc-blr", "g2_single_exp", "g2_double_exp":
			b.Run(c.name, func(b *testing.B) { racePosterior(b, &c) })
		}
	}
}

func racePosterior(b *testing.B, c *problem) {
	var file struct{ Data json.RawMessage }
	text, err := os.ReadFile(golden.Path(b, c.file))
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		b.Fatal(err)
	}
	post, want := c.built(b, c.build)
	target, seed := reference(post, want), uint64(0)
	peer.Race{
		Name: "NUTS of " + c.name, Unit: "effective draw",
		Ours: func() (peer.Done, error) {
			seed++
			fit, err := Sample(b.Context(), target, Settings{Seed: seed, Parallel: runtime.GOMAXPROCS(0)})
			if err != nil {
				return peer.Done{}, err
			}
			warm, sampling := fit.Gradients()
			count := func() float64 { return leastESS(fit) * float64(warm+sampling) }
			return peer.Done{Count: count, Check: math.NaN()}, nil
		},
		Peers: []peer.Rival{
			{Name: "nutpie", Script: "infer.py", Args: []string{"nutpie", c.name}, Input: file.Data},
			{Name: "NumPyro", Script: "infer.py", Args: []string{"numpyro", c.name}, Input: file.Data},
		},
	}.Run(b)
}
