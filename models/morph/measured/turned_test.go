// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
)

// turnedRows is the number of directions of the reduced patterns that are turned and mirrored: a step of 30 degrees.
const turnedRows = 12

// tilted is a problem of lamellae whose directions are known, in a field at 30 degrees; the detector is not known.
func tilted(t *testing.T, kind string) (k *measured.Task, set *scatter.Set) {
	t.Helper()
	const field = 30
	set = &scatter.Set{Name: kind, Kind: map[string]scatter.Kind{"chi": scatter.Curves, "A": scatter.Anisotropies}[kind]}
	for _, e := range []float64{284, 285} {
		c := scatter.Curve{Energy: e, Exposure: 1, Polarization: field, Q: middles(0.15, 0.05, 10)}
		if kind == "chi" {
			c.Chi = middles(-180, 360/turnedRows, turnedRows)
		}
		c.I = make([]float64, len(c.Q)*max(1, len(c.Chi)))
		c.Errors = make([]float64, len(c.I))
		for i := range c.Errors {
			c.Errors[i] = 1
		}
		set.Curves = append(set.Curves, c)
	}
	constants := []any{[][4]float64{{9e-4, 3e-4, 6e-4, 4e-4}, {-1.3e-3, 1.1e-3, -4e-4, 2.4e-3}}}
	parameters := map[string]any{"period": map[string]any{"start": 20.}, "lamella": map[string]any{"start": 8.}, "aligned": map[string]any{"start": 0.6}}
	fixed := map[string]float64{"grain": 18, "theta_deg": 80, "phi_deg": 15}
	if kind == "chi" {
		parameters["log_scale"] = map[string]any{"start": 12.}
	} else { // A(q) tells little of lengths
		delete(parameters, "lamella")
		delete(parameters, "period")
		fixed["lamella"], fixed["period"] = 8, 20
	}
	p := parse(t, map[string]any{"model": "stacks", "data": "none.csv", "polarization": field, "parameters": parameters, "constants": constants,
		"fixed": fixed})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "none.csv"), []byte("energy,q (1/nm),I,dI\n284,0.1,1,1\n284,0.2,1,1\n285,0.1,1,1\n285,0.2,1,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := measured.Open(p, dir)
	if err != nil {
		t.Fatal(err)
	}
	return k, set
}

// with returns the task with numbers of a set.
func with(t *testing.T, k *measured.Task, set *scatter.Set) *measured.Task {
	t.Helper()
	d, _, err := measured.FromFile(set, measured.Reading{Loss: "gaussian"})
	if err != nil {
		t.Fatal(err)
	}
	m := *k.Model
	m.Data, m.Numbering = d, nil
	return &measured.Task{Model: &m, Params: k.Params, Fixed: k.Fixed}
}

// Directions chi that are turned by 90 degrees or mirrored are named, for I(q, chi), and so is A(q) of a field that is turned. Right data are
// not flagged.
func TestTurnedReducedPatterns(t *testing.T) {
	tier.SlowOnly(t)
	const relative = 0.02
	random := rand.New(rand.NewPCG(3, 9))
	for name, c := range map[string]struct {
		kind  string
		row   func(row int) int // that takes the place of a row
		sign  float64
		wants string
	}{
		"right chi":    {"chi", func(r int) int { return r }, 1, ""},
		"turned chi":   {"chi", func(r int) int { return (r + turnedRows/4) % turnedRows }, 1, "directions chi that are turned by 90 degrees"},
		"mirrored chi": {"chi", func(r int) int { return turnedRows - 1 - r }, 1, "directions chi that are mirrored"},
		"right A":      {"A", nil, 1, ""},
		"turned A":     {"A", nil, -1, "an electric field that is turned by 90 degrees"},
	} {
		t.Run(name, func(t *testing.T) {
			k, set := tilted(t, c.kind)
			mean, err := with(t, k, set).Means()
			if err != nil {
				t.Fatal(err)
			}
			n, columns := len(set.Curves[0].I), len(set.Curves[0].Q)
			for i := range set.Curves {
				curve := &set.Curves[i]
				for b := range n {
					from := b
					if c.row != nil {
						from = c.row(b/columns)*columns + b%columns
					}
					mu := mean[i*n+from]
					sd := relative * math.Abs(mu)
					if c.kind == "A" {
						sd = relative / 10
					}
					curve.I[b], curve.Errors[b] = c.sign*mu+sd*distuv.Normal{Sigma: 1, Src: random}.Rand(), sd
				}
			}
			first, words := judged(t, with(t, k, set))
			if c.wants == "" && first != "" || c.wants != "" && (first != "direction of the field" || !strings.Contains(words, c.wants)) {
				t.Errorf("want %q: %s", c.wants, words)
			}
		})
	}
}

// A field that is off by 90 degrees is told for isotropic balls, too, where only the polarisation of the scattered light shows it and chi-square
// differs by less than a misfit that the usual tests see; by voxels and in closed form.
func TestTurnedFieldOfIsotropicBalls(t *testing.T) {
	tier.SlowOnly(t)
	for name, closed := range map[string]bool{"closed": true, "voxels": false} {
		for _, turned := range []bool{false, true} {
			k := isotropic(t, closed)
			for i := range k.Model.Data.Frames {
				if turned {
					k.Model.Data.Frames[i].Angle = 90
				}
			}
			if first, words := judged(t, k); turned != (first == "direction of the field") || !turned && first != "" {
				t.Errorf("%s, turned %v: %s", name, turned, words)
			}
		}
	}
}

// isotropic is the small measurement of balls whose molecules have no direction.
func isotropic(t *testing.T, closed bool) *measured.Task {
	t.Helper()
	k := smallOf(t, 3, closed)
	m := k.Model
	m.Tables = slices.Clone(m.Tables)
	shell := m.Tables[1]
	shell.Constants = slices.Clone(shell.Constants)
	for i := range shell.Constants {
		c := &shell.Constants[i]
		c.DeltaPerp, c.BetaPerp = c.DeltaPara, c.BetaPara
	}
	m.Tables[1] = shell
	held := map[string]float64{"aligned": 0, "resolution": truthOf["resolution"], "centre_x": truthOf["centre_x"], "centre_y": truthOf["centre_y"]}
	k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { _, ok := held[p.Name]; return ok }) // fits of fewer parameters are quicker
	for i := range k.Params {
		if k.Params[i].Name == "log_scale" {
			k.Params[i].Start = 11
		}
	}
	k.Fixed = held
	mu, err := (&measured.Task{Model: m, Params: k.Params, Fixed: k.Fixed}).Means()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(8, 6))
	pixels := len(m.Data.Frames[0].Counts)
	for i, v := range mu {
		m.Data.Frames[i/pixels].Counts[i%pixels] = distuv.Poisson{Lambda: v, Src: random}.Rand()
	}
	return &measured.Task{Model: m, Params: k.Params, Fixed: k.Fixed}
}
