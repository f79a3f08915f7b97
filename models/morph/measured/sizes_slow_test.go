// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package measured_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
)

// Bodies of several sizes are named before errors of the constants or the background that would make up for them.
func TestSpreadOfSizesIsNamed(t *testing.T) {
	k := smallOf(t, 3, true)
	p := &morph.Problem{Model: "core_shell", Parameters: map[string]morph.ProblemParam{"radius": {Start: morph.StartValues{6}}, "shell": {Start: morph.StartValues{5}}, "aligned": {}}}
	p.Options.Closed, p.Options.Width, p.Grid.Voxel = true, 1, 2
	name, wider := p.Spread()
	if name != "size_sd" || wider.Model != "particles" {
		t.Fatalf("the sizes of core_shell spread by %q", name)
	}
	m := k.Model
	m.Spread, m.Ensemble, m.Wider = name, wider.Model, func(at morph.Values, q float64) morph.ClosedForm {
		given := map[string]*ad.Node{}
		for _, n := range append(slices.Clone(k.Model.Morphology), name) {
			if v := at(n); v != nil {
				given[n] = v
			}
		}
		return wider.Closed(wider.Values(given), q)
	}
	truth := *m
	truth.Closed, truth.Morphology = m.Wider, append(slices.Clone(m.Morphology), name)
	all := measured.Task{Model: &truth, Params: append(slices.Clone(k.Params), measured.Param{Name: name, Start: 0.25})}
	mu, err := all.Means()
	if err != nil {
		t.Fatal(err)
	}
	random, pixels := rand.New(rand.NewPCG(3, 5)), len(m.Data.Frames[0].Counts)
	for i, v := range mu {
		m.Data.Frames[i/pixels].Counts[i%pixels] = distuv.Poisson{Lambda: v, Src: random}.Rand()
	}
	if first, words := judged(t, &measured.Task{Model: m, Params: k.Params}); first != "spread of sizes" || !strings.Contains(words, `add "size_sd": {"start": 0.1} to the parameters of the model "particles"`) {
		t.Error(words)
	}
}
