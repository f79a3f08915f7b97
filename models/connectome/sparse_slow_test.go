// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package connectome

import (
	"math"
	"runtime"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// A hundred thousand neurons run forward and backward: n = 1e5, k = 317, p = 0.01,
// 25 steps, synapses drawn when they are needed, with weights of low rank. The cap is
// warm: a cold one makes the run chaotic, and differences of it meaningless.
func TestSparseLarge(t *testing.T) {
	const n, k, p, steps, rank = 100_000, 317, .01, 25, 2
	beta, gain := ad.Input("beta"), ad.Input("gain")
	one, us, u := ad.Scalar(1), ad.Const(wavy(k*rank, 0, .1, 1), k, rank), ad.Const(wavy(n*rank, 0, .1, 2), n, rank)
	v := ad.Input("v", n, rank)
	ws := LowRank(assembly.Fibre{P: p, N: n, Seed: 1}, k, nil, one, us, v)
	wr := LowRank(assembly.Fibre{P: p, N: n, Seed: 2}, n, nil, gain, u, v)
	y := UnrollSparse(ad.Full(1, k), ws, wr, beta, Dynamics{Steps: steps, K: ad.Scalar(k), Cap: KCap{Kind: CappedSimplex, Temperature: 3}})
	stable := ad.Scale(1./k/(steps-1), ad.Sum(ad.Mul(ad.Slice(y, 0, 1, steps), ad.Slice(y, 0, 0, steps-1))))
	in := []*ad.Node{beta, gain, v}
	forward, err := ad.Compile([]*ad.Node{stable}, ad.Settings{Inputs: in})
	if err != nil {
		t.Fatal(err)
	}
	both, err := ad.Compile(append([]*ad.Node{stable}, ad.Grad(stable, in...)...), ad.Settings{Inputs: in})
	if err != nil {
		t.Fatal(err)
	}
	run := func(prog *ad.Program, b float64) *ad.State {
		st := prog.NewState()
		st.Input(0)[0], st.Input(1)[0] = b, 1
		copy(st.Input(2), wavy(n*rank, 0, .1, 3))
		start := time.Now()
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d outputs: %.2f s, mean overlap of successive steps %.6f", prog.Outputs(), time.Since(start).Seconds(), st.OutputFloat64(0)[0])
		return st
	}
	st := run(both, .05)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	t.Logf("heap %.0f MB, from the system %.0f MB", float64(mem.HeapAlloc)/1e6, float64(mem.Sys)/1e6)
	const h = 1e-6
	up, down := run(forward, .05+h).Output(0)[0], run(forward, .05-h).Output(0)[0]
	if got, want := st.Output(1)[0], (up-down)/(2*h); !(math.Abs(got-want) <= 1e-4*max(1, math.Abs(want))) {
		t.Errorf("gradient by beta %g, central difference %g", got, want)
	}
	t.Logf("gradient by beta %g, by gain %g", st.Output(1)[0], st.Output(2)[0])
}
