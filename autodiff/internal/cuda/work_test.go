// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"fmt"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// trafficOf runs a program once on the emulated device, which counts what warps ask memory for, and returns that beside what
// the compiler says that they do.
func trafficOf(t *testing.T, lib *pretend.Library, bits int, make func(x array) *ad.Node) (sectors, touched, wantSectors, wantTouched float64) {
	t.Helper()
	var in []*ad.Node
	out := make(func(shape ...int) *ad.Node {
		in = append(in, ad.Input(fmt.Sprint("x", len(in)), shape...))
		return in[len(in)-1]
	})
	s := ad.Settings{Inputs: in, Precision: bits, Backend: ad.CUDA{OwnKernels: true, Strict: true}}
	list, err := ad.Launches([]*ad.Node{out}, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		sectors += l.Work.Sectors
		touched += l.Work.Bytes()
		if l.Work.Unknown != "" {
			t.Errorf("%s: %s are not counted", l.Kernel, l.Work.Unknown)
		}
	}
	lib.Set("trace", 1)
	defer lib.Set("trace", 0)
	p, err := ad.Compile([]*ad.Node{out}, s)
	if err != nil {
		t.Fatal(err)
	}
	state := p.NewState()
	for i, x := range in {
		if err := state.SetInput(i, random(x.Size(), uint64(i)+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := state.Run(); err != nil {
		t.Fatal(err)
	}
	state.OutputFloat64(0) // waits
	return sectors, touched, float64(lib.Get("sectors")), float64(lib.Get("touched"))
}

type array = func(shape ...int) *ad.Node

// counted is a graph, and how many times the sectors that are counted warps may ask for.
type counted struct {
	most float64
	make func(x array) *ad.Node
}

// counts compares the work of graphs that the compiler counts with what warps do: sectors that they ask for, and bytes that launches touch. Bytes
// agree within 15 %. Sectors do within 30 % where rows begin at sectors of their own; rows that do not let warps ask for up to half as many again, and
// Fourier transforms load roots and halves of numbers that they have near them, which is not counted.
func counts(t *testing.T, bits int, graphs map[string]counted) {
	t.Helper()
	lib := pretend.Shared(t)
	for name, x := range graphs {
		sectors, touched, doneSectors, doneTouched := trafficOf(t, lib, bits, x.make)
		if doneSectors > x.most*sectors || doneSectors < sectors/1.3 {
			t.Errorf("%s, %d bits: warps ask for %.0f sectors, %.0f are counted", name, bits, doneSectors, sectors)
		}
		if doneTouched > 1.15*touched || doneTouched < touched/1.15 {
			t.Errorf("%s, %d bits: launches touch %.0f bytes, %.0f are counted", name, bits, doneTouched, touched)
		}
	}
}

// The compiler counts what kernels do. More of them, and float64, are in the slow tests.
func TestCountedWorkIsDone(t *testing.T) { counts(t, 32, countedGraphs) }

var countedGraphs = map[string]counted{
	"elements":    {1.2, func(x array) *ad.Node { return ad.Add(x(20_000), ad.Sin(x(20_000))) }},
	"transpose":   {1.2, func(x array) *ad.Node { return ad.Shift(ad.Permute(x(130, 170), 1, 0), 1) }},
	"column sums": {1.3, func(x array) *ad.Node { return ad.SumAxes(x(300, 100), 0) }},
	"softmax":     {1.2, func(x array) *ad.Node { return ad.Softmax(x(100, 304), 1) }},
	"product":     {1.5, func(x array) *ad.Node { return ad.MatMul(x(130, 100), x(100, 140)) }},
	"running sum": {1.2, func(x array) *ad.Node { return ad.Cumsum(x(40_000), 0) }},
}
