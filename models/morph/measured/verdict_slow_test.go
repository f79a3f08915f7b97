// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package measured_test

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// omission is something that a fit leaves out or has wrong.
type omission struct {
	name  string
	out   []string // parameters that are left out
	spoil func(k *measured.Task)
	// want is the kind of the first finding, and says what its words hold; an empty one is none.
	want, says string
	// only and unseen name the model that the omission is tried with, and that which absorbs it.
	only, unseen string
}

// omissions are those of both measurements; parameters that a set does not have are not left out of it.
var omissions = []omission{
	{name: "nothing"},
	{name: "centre", out: []string{"centre_x", "centre_y"}, want: "beam centre", says: `"centre_x": {}`},
	{name: "blur", out: []string{"resolution"}, want: "blur", says: `"resolution": {}`},
	{name: "background", out: []string{"background"}, want: "background", says: `"background": {}`},
	{name: "falling background", out: []string{"background_q4"}, want: "background that falls with q", says: `"background_q4": {}`},
	{name: "fluorescence", out: []string{"fluorescence_1", "fluorescence_2", "fluorescence_3", "fluorescence_4"}, want: "fluorescence", says: `"fluorescence_1": {}`},
	{name: "energies", out: []string{"energy_shift"}, want: "photon energy", says: `"energy_shift": {`},
	{name: "absorption", out: []string{"thickness"}, want: "absorption", says: `"thickness": {`},
	{name: "thickness", out: []string{"thickness"}, want: "absorption", says: `"thickness": {`, spoil: func(k *measured.Task) { k.Fixed = map[string]float64{"thickness": 150} }},
	{name: "constants", unseen: "grain", want: "optical constants", says: "check the table", spoil: func(k *measured.Task) {
		k.Model.Tables = slices.Clone(k.Model.Tables)
		last := len(k.Model.Tables) - 1
		table := k.Model.Tables[last]
		table.Constants = slices.Clone(table.Constants)
		for i := range table.Constants {
			if x := &table.Constants[i]; table.Energies[i] > 284.9 && table.Energies[i] < 285.8 {
				x.DeltaPara, x.DeltaPerp, x.BetaPara, x.BetaPerp = 0.9*x.DeltaPara, 0.9*x.DeltaPerp, 1.1*x.BetaPara, 1.1*x.BetaPerp
			}
		}
		k.Model.Tables[last] = table
	}},
	{name: "distance", want: "edges", says: "a detector that is farther away", unseen: "grain", spoil: func(k *measured.Task) { k.Model.Data.Geometry.Distance *= 1.02 }},
	{name: "exposure", want: "exposure", says: `"exposure_2": {`, unseen: "grain", spoil: func(k *measured.Task) {
		k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { return strings.HasPrefix(p.Name, "scale_") })
		for i := range k.Model.Data.Frames {
			if f := &k.Model.Data.Frames[i]; f.Energy == k.Model.Data.Frames[2].Energy {
				f.Exposure *= 1.1
			}
		}
	}},
	{name: "scale", want: "scale", unseen: "grain", says: `"log_scale": {}`, spoil: func(k *measured.Task) {
		i := slices.IndexFunc(k.Params, func(p measured.Param) bool { return p.Name == "log_scale" })
		k.Fixed = map[string]float64{"log_scale": k.Params[i].Start + 0.1}
		k.Params = slices.Delete(k.Params, i, i+1)
	}},
	{name: "dark", only: "grain", want: "dark counts", says: `"dark": {}`, spoil: func(k *measured.Task) {
		for i := range k.Model.Data.Frames {
			k.Model.Data.Frames[i].Dark = 0
		}
	}},
	{name: "pedestal", only: "core_shell", want: "pedestal", says: "pedestal", spoil: func(k *measured.Task) {
		for _, f := range k.Model.Data.Frames {
			for i := range f.Counts {
				f.Counts[i] += 3
			}
		}
	}},
	{name: "polarisation", out: []string{"purity"}}, // within two standard deviations
	{name: "field turned", want: "direction of the field", says: "turn", spoil: func(k *measured.Task) {
		for i := range k.Model.Data.Frames {
			k.Model.Data.Frames[i].Angle += 90
		}
	}},
}

// The first finding about a fit names what was left out, with what to add, and a right model has none.
func TestOmissions(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		for _, o := range omissions {
			t.Run(o.name, func(t *testing.T) {
				began := time.Now()
				r := openReference(t, path.Dir(name))
				k := r.closed(t, r.drawn(1))
				before := len(k.Params)
				k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { return slices.Contains(o.out, p.Name) })
				want := o.want
				if r.problem.Model == o.unseen {
					want = ""
				}
				if o.out != nil && len(k.Params) == before || o.only != "" && o.only != r.problem.Model {
					t.Skip("the measurement has none")
				}
				if o.spoil != nil {
					o.spoil(k)
				}
				s, err := k.Fit(t.Context(), optim.Settings{MaxEvaluations: 40})
				if err != nil {
					t.Fatal(err)
				}
				fitted := time.Since(began)
				v, err := k.Check(s)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%v, deviance %g, %d evaluations in %v, verdict after %v", s.Status, s.Deviance, s.NFev, fitted, time.Since(began))
				for i, f := range v.Flags {
					t.Logf("  %d %s: %s; %s", i+1, f.Kind, f.Text, f.Remedy)
				}
				if want == "" && !v.OK || want != "" && (v.OK || v.Flags[0].Kind != want || !strings.Contains(v.Flags[0].Text+v.Flags[0].Remedy, o.says)) {
					t.Errorf("want %q", want)
				}
			})
		}
	})
}

// Of right models few are flagged: the level is 1 %.
func TestRightModelsAreNotFlagged(t *testing.T) {
	const draws = 200
	flagged := 0
	for seed := range uint64(draws) {
		if first, words := judged(t, smallOf(t, 100+seed, true)); first != "" {
			flagged++
			t.Logf("draw %d: %s", seed, words)
		}
		if seed%20 == 19 {
			t.Logf("%d of %d", flagged, seed+1)
		}
	}
	t.Logf("%d of %d right models are flagged", flagged, draws)
	if flagged > 6 { // 2 are expected, and more than 6 have a probability of 0.4 %
		t.Errorf("%d of %d right models are flagged", flagged, draws)
	}
}

// Of right models of the references, in closed form, few are flagged either.
func TestRightReferencesAreNotFlagged(t *testing.T) {
	const draws = 100
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		r.expectClosed(t)
		flagged := 0
		for seed := range uint64(draws) {
			if first, words := judged(t, r.closed(t, r.drawn(3000+seed))); first != "" {
				flagged++
				t.Logf("draw %d: %s", seed, words)
			}
			if seed%20 == 19 {
				t.Logf("%d of %d", flagged, seed+1)
			}
		}
		if flagged > 4 { // 1 is expected, and more than 4 have a probability of 0.4 %
			t.Errorf("%d of %d right models are flagged", flagged, draws)
		}
	})
}
