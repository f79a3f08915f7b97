// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package phasing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// Pattern is an image on the grid of q.
type Pattern struct {
	// Intensity is row by row, NaN where nothing was measured.
	Intensity []float64
	// Components are the contrasts of each field in the amplitudes along x and y: the intensity is the sum over components of
	// |sum over fields of contrast times transform|^2. One contrast of one field is enough for an isotropic material.
	Components [][]complex128
}

// Problem is what is measured and known.
type Problem struct {
	Shape  [2]int // number of voxels along Y and X
	Fields int    // the volume fraction, and further ones whose size it limits, such as fractions times products of directors
	// Patterns are images by energy and polarisation.
	Patterns []Pattern
	// Support is true where the sample may be; nil for half of the box along either axis.
	Support []bool
	// Unlimited says that contrasts are known up to a factor only, so that volume fractions have no upper limit.
	Unlimited bool
	// Histogram holds volume fractions that are known to occur, in any order; those of the support are given their distribution. nil for
	// none.
	Histogram []float64
	// Noise is the root mean square of the errors of magnitudes relative to those measured; residuals up to twice it are not told as a misfit.
	Noise float64
}

// Settings rule the projections. The zero value is the default.
type Settings struct {
	// Method is "raar" (relaxed averaged alternating reflections, the default), "hio" (hybrid input-output) or "er" (error reduction).
	Method     string
	Iterations int     // number of steps of each start. Default 400, the last fifth by error reduction
	Restarts   int     // number of random starts. Default 20
	Beta       float64 // relaxation parameter. Default 0.8 for hio; for raar it rises from 0.85 to 0.99
	// Shrink is the number of iterations after which the support shrinks to where the sample is. Default 25; negative for never.
	Shrink int
	// Threshold is the share of the largest value that belongs to the support. Default 0.12.
	Threshold float64
	// FreeShare of the measured pixels is left out, to test the result. Default 0.05.
	FreeShare float64
	Seed      uint64
	Threads   int // Default all processors
}

// Result is what the starts have in common.
type Result struct {
	// Best is the sample of the start with the least free residual, by field and row by row; Mean and Spread are the mean and standard
	// deviation of the starts that agree with the data as well, moved and turned to match it.
	Best, Mean, Spread [][]float64
	Kept               int // number of starts in the mean
	// Further is the number of starts between the sample and itself turned, where samples are looked for that have the same patterns; 0
	// where random starts found such ones.
	Further int
	// Residual and Free are root mean squares of magnitudes relative to those measured, of the best start, for pixels that were used
	// and left out.
	Residual, Free float64
	// Transfer is the phase retrieval transfer function by ring of q, a pixel wide: 1 where all starts have the same phases, and near
	// 1/sqrt(Kept) where they have none in common.
	Transfer []float64
	// Findings say in sentences what keeps the result from being determined; empty if nothing does.
	Findings []string
}

// UsualRestarts is the number of random starts by default.
const UsualRestarts = 20

const purpose = 0x70686173 // of random numbers

// solver holds what all starts share.
type solver struct {
	Problem
	Settings
	n        int
	fft      *kernels.FFT
	used     [][]float64 // intensities with q = 0 first, NaN where free
	free     [][]float64 // those left out
	single   []float64   // |F| if there is one contrast of one field; nil otherwise
	size     float64     // root mean square of the magnitudes
	original []bool
}

// Solve finds the sample. A cancelled context ends it with an error.
func Solve(ctx context.Context, p Problem, s Settings) (*Result, error) {
	if err := check(p, &s); err != nil {
		return nil, err
	}
	v := newSolver(p, s)
	runs := make([]*run, s.Restarts)
	parallel.Do(s.Threads, s.Restarts, func(_, i int) {
		if ctx.Err() == nil {
			runs[i] = v.run(ctx, i)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, kept := v.summary(runs)
	if len(out.Findings) > 0 {
		return out, nil
	}
	further := v.towardsTwins(ctx, runs[0])
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.Further = len(further)
	out.tellGroups(append(kept, v.asNear(further, runs[0])...), v.Noise)
	return out, nil
}

func defaultTo[T int | float64](x *T, usual T) {
	if *x == 0 {
		*x = usual
	}
}

// check completes the settings and returns all that is wrong.
func check(p Problem, s *Settings) error {
	var bad []error
	say := func(format string, args ...any) { bad = append(bad, fmt.Errorf("phasing: "+format, args...)) }
	defaultTo(&s.Iterations, 400)
	defaultTo(&s.Restarts, UsualRestarts)
	defaultTo(&s.Shrink, 25)
	defaultTo(&s.Threshold, 0.12)
	defaultTo(&s.FreeShare, 0.05)
	if s.Threads <= 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	if s.Method == "" {
		s.Method = "raar"
	}
	n := p.Shape[0] * p.Shape[1]
	if p.Shape[0] < 2 || p.Shape[1] < 2 || p.Fields < 1 || len(p.Patterns) == 0 {
		say("%v voxels, %d fields and %d patterns: want at least 2 voxels along both axes, one field and one pattern", p.Shape, p.Fields, len(p.Patterns))
		return errors.Join(bad...)
	}
	if !slices.Contains([]string{"raar", "hio", "er"}, s.Method) {
		say("the method is %q: want raar, hio or er", s.Method)
	}
	if s.Iterations < 1 || s.Restarts < 1 || s.Beta < 0 || s.Beta > 1 || s.Threshold < 0 || s.Threshold >= 1 || s.FreeShare < 0 || s.FreeShare > 0.5 {
		say("%d iterations, %d restarts, beta %g, threshold %g and a free share of %g: want counts above 0, and numbers below 1 (free share at most 0.5)", s.Iterations, s.Restarts, s.Beta, s.Threshold, s.FreeShare)
	}
	if p.Support != nil && (len(p.Support) != n || !slices.Contains(p.Support, true)) {
		say("the support has %d voxels and the box %d: want as many, and one that may hold the sample", len(p.Support), n)
	}
	for i, x := range p.Patterns {
		if len(x.Intensity) != n {
			say("pattern %d has %d pixels and the box %d voxels: want as many", i+1, len(x.Intensity), n)
			continue
		}
		measured := 0
		for _, y := range x.Intensity {
			if y < 0 || math.IsInf(y, 0) {
				say("pattern %d has the intensity %g: want finite ones from 0, or NaN where nothing was measured", i+1, y)
				break
			}
			if y == y {
				measured++
			}
		}
		if measured < 4 {
			say("pattern %d has %d measured pixels: want at least 4", i+1, measured)
		}
		for _, c := range x.Components {
			if len(c) != p.Fields {
				say("pattern %d has %d contrasts in a component, and there are %d fields: want one for each", i+1, len(c), p.Fields)
			}
		}
		if len(x.Components) == 0 {
			say("pattern %d has no contrasts: give those of the fields", i+1)
		}
	}
	return errors.Join(bad...)
}

func newSolver(p Problem, s Settings) *solver {
	v := &solver{Problem: p, Settings: s, n: p.Shape[0] * p.Shape[1], fft: kernels.NewFFT(p.Shape[0], p.Shape[1])}
	v.original = p.Support
	if v.original == nil {
		v.original = make([]bool, v.n)
		for i := range v.original {
			y, x := i/p.Shape[1], i%p.Shape[1]
			v.original[i] = within(y, p.Shape[0]) && within(x, p.Shape[1])
		}
	}
	random := tensor.NewStream(s.Seed, purpose, 0)
	left := make([]bool, v.n)
	for i := range left {
		if random.Float64() < s.FreeShare {
			left[i], left[v.opposite(i)] = true, true // which has the same intensity for one contrast
		}
	}
	count := 0.0
	for _, x := range p.Patterns {
		used, free := make([]float64, v.n), make([]float64, v.n)
		for i := range used {
			used[i], free[i] = math.NaN(), math.NaN()
			y := x.Intensity[v.shifted(i)]
			if left[i] && i != 0 {
				free[i] = y
			} else {
				used[i] = y
			}
			if y == y {
				v.size, count = v.size+y, count+1
			}
		}
		v.used, v.free = append(v.used, used), append(v.free, free)
	}
	v.size = math.Sqrt(v.size / count)
	v.simple()
	return v
}

// within reports whether an index is in the middle half of n.
func within(i, n int) bool { return i >= n/4 && i < n/4+(n+1)/2 }

// shifted returns the pixel of an image for index i of a transform.
func (v *solver) shifted(i int) int {
	y, x := i/v.Shape[1], i%v.Shape[1]
	return (y+v.Shape[0]/2)%v.Shape[0]*v.Shape[1] + (x+v.Shape[1]/2)%v.Shape[1]
}

// opposite returns the index of -q, or of the voxel on the other side of the first one.
func (v *solver) opposite(i int) int {
	y, x := i/v.Shape[1], i%v.Shape[1]
	return (v.Shape[0]-y)%v.Shape[0]*v.Shape[1] + (v.Shape[1]-x)%v.Shape[1]
}

// simple combines the patterns of one contrast to one magnitude.
func (v *solver) simple() {
	if v.Fields > 1 {
		return
	}
	v.single = make([]float64, v.n)
	for i := range v.single {
		sum, weight := 0.0, 0.0
		for p, x := range v.Patterns {
			c := 0.0
			for _, y := range x.Components {
				c += real(y[0])*real(y[0]) + imag(y[0])*imag(y[0])
			}
			if y := v.used[p][i]; y == y {
				sum, weight = sum+y*c, weight+c*c
			}
		}
		v.single[i] = math.Sqrt(sum / weight) // NaN where nothing was measured
	}
}
