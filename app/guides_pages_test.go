// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/tensor"
)

// described are pages whose command lines are forms, not commands to type.
var described = map[string]bool{"docs/CLI.md": true}

const (
	demoResults = "euryale demo g2 --quiet\ncp demo-g2/g2_result.hdf A003_results.hdf"
	demoMovie   = `
mkdir given && cd given && euryale demo xpcs --quiet && cd ..
cp given/demo-xpcs/movie_results.hdf a_results.hdf
cp given/demo-xpcs/movie_results.hdf b_results.hdf
cp given/demo-xpcs/movie_results.hdf empty_results.hdf
cp given/demo-xpcs/movie_results.hdf A003_1_results.hdf
cp given/demo-xpcs/movie_results.hdf A003_2_results.hdf`
	lineStan = `data { int<lower=0> N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> sigma; }
model { y ~ normal(a + b * x, sigma); }
`
)

// guides are the pages whose commands are run.
var guides = map[string]guide{
	"README.md":                       {given: "mkdir clean && cd clean && euryale demo g2 --quiet && cd ..\ncp clean/demo-g2/g2_result.hdf A003_results.hdf"},
	"docs/guide/choose-g2.md":         {},
	"docs/guide/verdicts.md":          {quick: true},
	"docs/guide/divergences.md":       {quick: true},
	"docs/guide/inversion.md":         {},
	"docs/guide/from-nrss.md":         {},
	"docs/guide/from-pyxpcsviewer.md": {},
	"docs/guide/from-homodyne.md":     {},
	"docs/guide/from-rvspecfit.md":    {},
	"docs/guide/from-stan.md":         {quick: true},
	"docs/guide/from-scipy.md":        {quick: true},
	"docs/guide/from-brain.md":        {quick: true},
	"docs/guide/assemblies.md":        {quick: true},
	"docs/guide/gallery.md":           {},
	"docs/guide/xpcs.md":              {given: demoMovie, own: `agbh\.tif|small\.hdf`},
	"docs/guide/twotime.md":           {},
	"docs/guide/spectra.md":           {own: `coadd-\*|night1|blue\.csv|star\.csv|coadd-main`},
	"docs/guide/curves.md":            {files: curveTables()},
	"docs/guide/scattering.md":        {own: `core_shell\.json|rods\.json|core-shell-run`},
	"docs/guide/stan.md":              {files: map[string]string{"line.stan": lineStan, "points.csv": decayLine}},
	"docs/guide/cluster.md":           {given: demoResults, files: map[string]string{"fits.yaml": "work: fit g2\nfiles: \"*.hdf\"\nbins: 1-3\n"}},
	"docs/guide/cluster-queue.md":     {given: demoResults, files: map[string]string{"run.yaml": "work: fit g2\nfiles: \"*.hdf\"\nbins: 1-3\n"}},
	"docs/guide/notebooks.md":         {},
	"docs/guide/view.md":              {},
	"examples/cluster/README.md":      {own: `chains|sweep|fits`},
	"examples/doors/README.md":        {},
	"examples/assemblies/README.md":   {},
	"site/content/_index.md":          {},
}

const decayLine = "x,y\n0,1.02\n1,2.91\n2,5.17\n3,7.04\n4,8.89\n5,11.12\n6,12.95\n7,15.08\n"

// curveTables are the tables of which the guide of curves speaks, with noise of one stream.
func curveTables() map[string]string {
	noise := tensor.NewStream(1, 0, 0)
	table := func(head string, n int, row func(i int) []float64) string {
		var b strings.Builder
		b.WriteString(head + "\n")
		for i := range n {
			for j, v := range row(i) {
				if j > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, "%.6g", v)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	peak := func(x, area, at, sd float64) float64 {
		return area / sd / math.Sqrt(2*math.Pi) * math.Exp(-(x-at)*(x-at)/2/sd/sd)
	}
	count := func(mean float64) float64 { return math.Max(0, math.Round(mean+math.Sqrt(mean)*noise.Normal())) }
	all := map[string]string{
		"spectrum.csv": table("energy,counts", 160, func(i int) []float64 {
			e := 0.05 * float64(i)
			return []float64{e, count(peak(e, 400, 2.5, 0.2) + peak(e, 600, 5.5, 0.5) + 40 + 3*e)}
		}),
		"xps.csv": table("e,counts", 160, func(i int) []float64 {
			e := 280 + 0.05*float64(i)
			return []float64{e, 50 + peak(e, 300, 283.5, 0.4) + peak(e, 150, 284.7, 0.4) + noise.Normal()}
		}),
		"neutrons.csv": table("w,vanadium,y", 121, func(i int) []float64 {
			w := -3 + 0.05*float64(i)
			return []float64{w, peak(w, 1, 0, 0.15), 0.2 + 0.4/math.Pi*2/(w*w+0.16) + 0.02*noise.Normal()}
		}),
		"all.csv": table("enzyme,s,v", 30, func(i int) []float64 {
			s := 0.5 * float64(i%10+1)
			return []float64{float64(i/10 + 1), s, (2+float64(i/10))*s/(1+s) + 0.02*noise.Normal()}
		}),
		"wave.csv": table("t,y", 80, func(i int) []float64 {
			return []float64{0.1 * float64(i), 2*math.Sin(3*0.1*float64(i)+0.4) + 0.1*noise.Normal()}
		}),
		"line.csv": table("x,dx,y,dy", 20, func(i int) []float64 {
			return []float64{float64(i) + 0.1*noise.Normal(), 0.1, 1 + 2*float64(i) + 0.3*noise.Normal(), 0.3}
		}),
		"ring.csv": table("u,v", 24, func(i int) []float64 {
			a := 2 * math.Pi * float64(i) / 24
			return []float64{1 + 3*math.Cos(a) + 0.1*noise.Normal(), 2 + 3*math.Sin(a) + 0.1*noise.Normal()}
		}),
		"galaxies.csv": table("x,dx,y,dy", 40, func(i int) []float64 {
			x := 2 + noise.Normal()
			return []float64{x + 0.3*noise.Normal(), 0.3, 1 + 2*x + 0.3*noise.Normal(), 0.3}
		}),
	}
	for k := range 3 {
		all[fmt.Sprintf("day%d.csv", k+1)] = table("t,y", 20, func(i int) []float64 {
			t := 0.4 * float64(i)
			return []float64{t, (3+float64(k))*math.Exp(-t/2) + 0.5*float64(k) + 0.05*noise.Normal()}
		})
	}
	return all
}
