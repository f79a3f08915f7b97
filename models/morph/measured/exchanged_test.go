// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// threeEnergies is the small measurement with a third energy and a flux at each.
func threeEnergies(t *testing.T) *measured.Task {
	t.Helper()
	k := smallOf(t, 3, true)
	m := k.Model
	add := func(table *measured.Table, c rsoxs.Constants) {
		table.Energies, table.Constants = append(table.Energies, 286), append(table.Constants, c)
	}
	add(&m.Tables[0], rsoxs.Constants{DeltaPara: 8e-4, BetaPara: 2e-3, DeltaPerp: 8e-4, BetaPerp: 2e-3})
	add(&m.Tables[1], rsoxs.Constants{DeltaPara: 1.5e-3, BetaPara: 8e-4, DeltaPerp: 2e-4, BetaPerp: 3e-3})
	add(m.Matrix, rsoxs.Constants{DeltaPara: 1e-3, BetaPara: 1.2e-3, DeltaPerp: 1e-3, BetaPerp: 1.2e-3})
	pixels := len(m.Data.Frames[0].Counts)
	m.Data.Frames = append(m.Data.Frames, measured.Frame{Energy: 286, Exposure: 10, Counts: make([]float64, pixels)})
	mu, err := (&measured.Task{Model: m, Params: k.Params}).Means()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(8, 5))
	for i, v := range mu {
		m.Data.Frames[i/pixels].Counts[i%pixels] = distuv.Poisson{Lambda: v, Src: random}.Rand()
	}
	fixed := map[string]float64{"shell": truthOf["shell"], "aligned": truthOf["aligned"], "resolution": truthOf["resolution"], "centre_x": truthOf["centre_x"], "centre_y": truthOf["centre_y"]}
	k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { _, held := fixed[p.Name]; return held }) // fits of fewer parameters are quicker
	for _, name := range []string{"scale_2", "scale_3"} {
		k.Params = append(k.Params, measured.Param{Name: name, SD: 0.05})
	}
	return &measured.Task{Model: m, Params: k.Params, Fixed: fixed}
}

// Two neighbouring energies whose images or rows of constants have changed places are named, and fluxes and constants do not stand in for them.
func TestExchangedEnergies(t *testing.T) {
	tier.SlowOnly(t)
	for name, c := range map[string]struct {
		spoil func(m *measured.Model)
		want  string
	}{
		"none": {func(*measured.Model) {}, ""},
		"images": {func(m *measured.Model) {
			f := m.Data.Frames
			f[1].Counts, f[2].Counts = f[2].Counts, f[1].Counts
		}, "the images of 285 and 286 eV that change places"},
		"rows": {func(m *measured.Model) {
			for _, table := range []*measured.Table{&m.Tables[0], &m.Tables[1], m.Matrix} {
				table.Constants = slices.Clone(table.Constants)
				table.Constants[0], table.Constants[1] = table.Constants[1], table.Constants[0]
			}
		}, "the rows of optical constants of 284 and 285 eV that change places"},
	} {
		t.Run(name, func(t *testing.T) {
			k := threeEnergies(t)
			c.spoil(k.Model)
			first, words := judged(t, k)
			if c.want == "" && first != "" || c.want != "" && (first != "exchanged energies" || !strings.Contains(words, c.want)) {
				t.Errorf("want %q: %q %s", c.want, first, words)
			}
		})
	}
}

// Two energies alone that have changed places are named, too.
func TestTwoExchangedEnergies(t *testing.T) {
	tier.SlowOnly(t)
	k := smallOf(t, 3, true)
	f := k.Model.Data.Frames
	f[0].Counts, f[1].Counts = f[1].Counts, f[0].Counts
	fixed := map[string]float64{"aligned": truthOf["aligned"], "resolution": truthOf["resolution"], "centre_x": truthOf["centre_x"], "centre_y": truthOf["centre_y"]}
	k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { _, held := fixed[p.Name]; return held })
	if first, words := judged(t, &measured.Task{Model: k.Model, Params: k.Params, Fixed: fixed}); first != "exchanged energies" || !strings.Contains(words, "of 284 and 285 eV that change places") {
		t.Errorf("%q: %s", first, words)
	}
}
