//go:build slow

package twotime_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// movies returns how many movies each likelihood is judged by.
func movies(t *testing.T) int {
	if v, err := strconv.Atoi(os.Getenv("EURYALE_MOVIES")); err == nil {
		return v
	}
	return 1000
}

// judgeMovies draws parameters from the prior, simulates a small movie of each and correlates it, and samples the posterior. It returns the ranks of the
// truth and how often 90 % intervals have it.
func judgeMovies(t *testing.T, l twotime.Likelihood, known bool) (diag.SBCReport, map[string]float64) {
	t.Helper()
	s := transport.Setup{Model: transport.Static, Q: 0.0054, Angles: []float64{0}}
	for i := range 24 {
		s.Times = append(s.Times, 0.1*(float64(i)+0.5))
	}
	const speckles, count = 2000, 1.0
	p := twotime.Priors{
		Motion:   map[string]dist.Dist{"log_D0": dist.Normal(math.Log(4e4), 0.5), "alpha": dist.Normal(0, 0.3), "D_offset": dist.HalfNormal(5000)},
		Contrast: twotime.Normal{Mean: 0.17, SD: 0.03}, Offset: twotime.Normal{Mean: 1.02, SD: 0.004},
	}
	names := []string{"D0", "alpha", "D_offset", "contrast", "offset"}
	sbc, err := diag.NewSBC(names, 99)
	if err != nil {
		t.Fatal(err)
	}
	cover, width := map[string]float64{}, map[string]float64{}
	z := tensor.NewStream(5, 1, 0)
	count90 := movies(t)
	worst := 0.0
	for i := range count90 {
		theta := []float64{math.Exp(math.Log(4e4) + 0.5*z.Normal()), 0.3 * z.Normal(), math.Abs(5000 * z.Normal())}
		contrast, offset := max(0.03, 0.17+0.03*z.Normal()), max(1, 1.02+0.004*z.Normal())
		d, err := twotime.Simulate(context.Background(), s, twotime.Sample{Theta: theta, Contrast: []float64{contrast}, Offset: []float64{offset}, Speckles: speckles, MeanCount: count, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		if !known {
			d.Noise = nil
		}
		if l == twotime.Independent {
			sd := math.Sqrt(((contrast+offset-1+1/count)*(contrast+offset-1+1/count) + contrast*contrast/3) / speckles)
			d.Sigma = [][]float64{slices.Repeat([]float64{sd}, len(s.Times)*len(s.Times))}
		}
		post, err := twotime.New(context.Background(), *d, p, twotime.PosteriorSettings{Likelihood: l, Seed: uint64(i)})
		if err != nil {
			t.Fatalf("movie %d: %v", i, err)
		}
		fit, err := infer.Sample(context.Background(), post, infer.Config{Chains: 2, Warmup: 300, Draws: 300, Seed: uint64(i), TargetAccept: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		c, o := post.Scales(fit, uint64(i))
		worst = max(worst, diag.RHat(fit.Draws("alpha")))
		draws := [][][]float64{fit.Draws("D0"), fit.Draws("alpha"), fit.Draws("D_offset"), c[0], o[0]}
		truth := append(slices.Clone(theta), contrast, offset)
		if err := sbc.AddFit(i, truth, draws); err != nil {
			t.Fatal(err)
		}
		for k, v := range draws {
			all := slices.Concat(v...)
			slices.Sort(all)
			low, high := all[len(all)/20], all[len(all)-1-len(all)/20]
			if low <= truth[k] && truth[k] <= high {
				cover[names[k]] += 1 / float64(count90)
			}
			width[names[k]] += (high - low) / float64(count90)
		}
	}
	report, err := sbc.Test(diag.SBCSettings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: largest R-hat %.3f\n%v", l, worst, report)
	for _, name := range names {
		t.Logf("%s: 90 %% intervals have the truth of %s in %.1f %% of movies; mean width %.4g", l, name, 100*cover[name], width[name])
	}
	return report, cover
}

func TestPosteriorsOfMoviesAreCalibrated(t *testing.T) {
	for _, c := range []struct {
		likelihood twotime.Likelihood
		known      bool
	}{{twotime.ByCells, true}, {twotime.ByCells, false}, {twotime.ByFrames, true}, {twotime.ByPairs, true}, {twotime.Independent, true}} {
		t.Run(fmt.Sprintf("%s_%v", c.likelihood, c.known), func(t *testing.T) {
			report, cover := judgeMovies(t, c.likelihood, c.known)
			if c.likelihood == twotime.Independent || c.likelihood == twotime.ByPairs { // shown beside
				return
			}
			if !report.Diagnose().OK() {
				t.Error(report.Diagnose())
			}
			for name, v := range cover {
				if movies(t) >= 1000 && (v < 0.87 || v > 0.93) {
					t.Errorf("90 %% intervals of %s have the truth in %.1f %% of movies", name, 100*v)
				}
			}
		})
	}
}
