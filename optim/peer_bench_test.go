// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"runtime"
	"testing"

	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/optim"
)

// BenchmarkPeerDecays fits decays of 32 points and 3 parameters.
func BenchmarkPeerDecays(b *testing.B) {
	x := logspace(-3, 1, 32)
	const compared = 200 // fits of the peer, and the ones whose answer is compared
	batch, rows := decays(b, x), decayRows(x, 20*compared, 2e-3)
	var y [][]float64
	for i := range compared {
		y = append(y, rows.Columns[0][i*len(x):(i+1)*len(x)])
	}
	peer.Race{
		Name: "least-squares fit of a decay", Unit: "fit",
		Ours: func() (peer.Done, error) {
			r, err := batch.Fit(b.Context(), rows, optim.BatchSettings{Threads: runtime.GOMAXPROCS(0)})
			if err != nil {
				return peer.Done{}, err
			}
			tau := 0.0
			for i := range compared {
				tau += r.Row(i)[2] / compared
			}
			return peer.Done{Units: 20 * compared, Check: tau}, nil
		},
		Peers: []peer.Rival{{Name: "SciPy", Script: "optim.py", Input: map[string]any{"x": x, "y": y, "start": rows.Start}}},
		Bytes: 8 * (32 + 3),
		Flops: 10 * 32 * 20, // ten evaluations of values and gradients, and normal equations
		Tol:   1e-4,
	}.Run(b)
}
