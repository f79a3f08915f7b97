// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/phasing"
)

// methodPhase is the method that finds voxels from nothing and then minimises from them.
const methodPhase = "phase"

// checkPhase returns what the method phase cannot do.
func (p *Problem) checkPhase() (bad []string) {
	if p.Method != methodPhase {
		return nil
	}
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if p.Model != "voxels" {
		say("method is phase, and the model %s: it finds voxels, so set model voxels", p.Model)
	}
	if p.Grid.Shape[0] != 1 {
		say("method is phase, and grid.shape has %d voxels along Z: patterns from one side do not determine how a sample varies along the beam, so set 1", p.Grid.Shape[0])
	}
	for _, name := range sortedNames(p.Parameters) {
		if name != "logit" {
			say("method is phase, and %s is searched: it finds volume fractions alone, so fix it or leave it out", name)
		}
	}
	if slices.ContainsFunc(p.Data, func(f DataFile) bool { return f.Nuisances != nil }) || bool(p.AllNuisances) {
		say("method is phase, and the problem has nuisances: it searches for none, so give what is known of them in fixed")
	}
	if p.Fixed["aligned"] != 0 {
		say("method is phase, and aligned is %g: it finds isotropic voxels", p.Fixed["aligned"])
	}
	if p.Config != "" || p.Angles != nil && p.Angles[0] != 0 || p.Angles != nil && p.Angles[2] != 0 || p.Hann || p.Compare == "curves" {
		say("method is phase: leave out config, angles, hann and compare, since it takes images with the field along +x")
	}
	return bad
}

// phase moves the start to voxels that projections find from nothing, and says what they have in common.
func (t *Task) phase(ctx context.Context, s FitSettings) (notes []string, err error) {
	p, support := t.phases()
	r, err := phasing.Solve(ctx, p, phasing.Settings{Seed: s.Seed, Threads: t.Measurement.Config.Workers})
	if err != nil {
		return nil, err
	}
	var logits []float64
	spread := 0.0
	for i, in := range support {
		if in {
			v := min(max(r.Best[0][i], 0.02), 0.98)
			logits, spread = append(logits, math.Log(v/(1-v))), spread+r.Spread[0][i]*r.Spread[0][i]
		}
	}
	for i := range t.Inversion.Params {
		if q := &t.Inversion.Params[i]; q.Name == "logit" {
			q.Start = logits
		}
	}
	notes = []string{fmt.Sprintf("projections from %d random starts: %d agree, with a spread of %.2g of the volume fractions; magnitudes are met to %.2g, and those left out to %.2g; mirrored through a point or moved, the sample has the same patterns",
		phasing.UsualRestarts, r.Kept, math.Sqrt(spread/float64(len(logits))), r.Residual, r.Free)}
	return append(notes, r.Findings...), nil
}

// phases returns the problem of the projections and the voxels of the support.
func (t *Task) phases() (phasing.Problem, []bool) {
	n := t.Problem.Grid.Shape
	o, support := t.Problem.Options, t.Problem.Support()
	p := phasing.Problem{Shape: [2]int{n[1], n[2]}, Fields: 1, Support: support}
	data := t.Measurement.Masked().Float64s()
	scale := 1.0
	if x, ok := t.Problem.Fixed["scale"]; ok {
		scale = x
	}
	for e, energy := range t.Measurement.Config.Energies {
		image := data[e*len(support) : (e+1)*len(support)]
		pattern := phasing.Pattern{Intensity: make([]float64, len(support)), Components: [][]complex128{{Contrast(t.Measurement.Optics[e], o.Matrix)}}}
		for i, v := range image {
			pattern.Intensity[i] = math.NaN()
			if d := dipole(n, t.Problem.Grid.Voxel, energy, i); i != n[1]/2*n[2]+n[2]/2 && d > 0 && v >= 0 {
				pattern.Intensity[i] = max(0, v-t.Problem.Fixed["background"]) / (scale * d)
			}
		}
		p.Patterns = append(p.Patterns, pattern)
	}
	return p, support
}

// Support returns the voxels of the first slice that are inside the support, row by row.
func (p *Problem) Support() []bool {
	n, from, to := p.Grid.Shape, p.Options.From, p.Options.To
	if to == ([3]int{}) {
		to = n
	}
	support := make([]bool, n[1]*n[2])
	for i := range support {
		y, x := i/n[2], i%n[2]
		support[i] = y >= from[1] && y < to[1] && x >= from[2] && x < to[2]
	}
	return support
}

// Contrast is the polarisability of a material against vacuum or the matrix, the last one: (n^2 - n_matrix^2)/(4 pi).
func Contrast(o []rsoxs.Constants, matrix bool) complex128 {
	square := func(c rsoxs.Constants) complex128 {
		d, b := (c.DeltaPara+2*c.DeltaPerp)/3, (c.BetaPara+2*c.BetaPerp)/3
		return complex(d*(d-2)-b*b, 2*b*(1-d))
	}
	x := square(o[0])
	if matrix {
		x -= square(o[len(o)-1])
	}
	return x / (4 * math.Pi)
}

// dipole returns |k^2 e - kappa (kappa . e)|^2 for the field e along +x at a pixel of a flat sample, 0 beyond the wave number.
func dipole(n [3]int, voxel, energy float64, i int) float64 {
	k := rsoxs.Wavenumber(energy)
	at := func(i, n int) float64 { return 2 * math.Pi * float64(i-n/2) / (float64(n) * voxel) }
	y, x := at(i/n[2], n[1]), at(i%n[2], n[2])
	if x*x+y*y >= k*k {
		return 0
	}
	a := k*k - x*x
	return a*a + x*x*(y*y+k*k)
}
