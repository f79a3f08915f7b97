// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/infer/diag"
)

// gallery is every plot once, from fixed data.
func gallery() map[string]func() (*Figure, error) {
	d := posterior(4, 800)
	fit := g2Curve(0)
	fit.Title, fit.Note, fit.BandName = "g2 of bin 7", "χ² / ν = 1.04\nR² = 0.998", "95 % credible"
	check := g2Curve(1)
	check.Title = "Posterior predictive check"
	var many []Curve
	for k := range 11 {
		c := g2Curve(k)
		c.Title = "q " + string(rune('A'+k))
		c.InnerLow, c.InnerHigh = nil, nil
		many = append(many, c)
	}
	x, series := powerLaw()
	return map[string]func() (*Figure, error){
		"trace":           func() (*Figure, error) { return Trace(d) },
		"rank":            func() (*Figure, error) { return Rank(d) },
		"density":         func() (*Figure, error) { return Density(d) },
		"forest":          func() (*Figure, error) { return Forest(d) },
		"autocorrelation": func() (*Figure, error) { return Autocorrelation(d) },
		"essevolution":    func() (*Figure, error) { return ESSEvolution(d) },
		"esslocal":        func() (*Figure, error) { return ESSLocal(d) },
		"energy":          func() (*Figure, error) { return Energy(d) },
		"pair":            func() (*Figure, error) { return Pair(d) },
		"fit":             func() (*Figure, error) { return Fit(fit) },
		"predictive":      func() (*Figure, error) { return Predictive(check) },
		"grid":            func() (*Figure, error) { return Grid(many) },
		"stack":           func() (*Figure, error) { return Stack(many, 0.05) },
		"parameters":      func() (*Figure, error) { return Parameters(x, series...) },
		"heat":            func() (*Figure, error) { return Heat(rings(128)) },
		"images":          func() (*Figure, error) { return Images("A particle and its pattern", particle()) },
		"scattering":      func() (*Figure, error) { return Scattering("Two energies", patternRows()) },
		"morphology":      func() (*Figure, error) { return Morphology(disc("z")) },
		"morphologyside":  func() (*Figure, error) { return Morphology(disc("x")) },
		"bars":            func() (*Figure, error) { return BarGrid("What each energy is worth", worth()...) },
		"spectrum":        func() (*Figure, error) { return Spectrum("A star with a line that no template has", starArms()) },
		"volume":          func() (*Figure, error) { return Volume3D(radial(ByMaterial)) },
		"volumetilt":      func() (*Figure, error) { return Volume3D(radial(ByTilt)) },
		"histograms":      func() (*Figure, error) { return Histograms("A disc", disc("z").Phases, 0) },
	}
}

// worth is two charts of bars with a gap, the second of many groups.
func worth() []Bars {
	few := Bars{Title: "radius", XLabel: "energy (eV)", YLabel: "share", Labels: []string{"283.6", "285", "287.8"}, High: 1,
		Series: []BarSeries{{"alone", []float64{0.1, 0.6, math.NaN()}}, {"lost without it", []float64{0.2, 0.7, 0.3}}}}
	return []Bars{few, {Title: "shell", Labels: few.Labels, High: 1, Series: []BarSeries{{"alone", []float64{0.9, 0, 0.05}}, {"lost without it", []float64{1, 0.02, 0.1}}}}}
}

// particle is a disc with a spiral director, and something like its pattern.
func particle() [][]Image {
	const n = 48
	v, psi, theta := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	q, i := make([]float64, n), make([]float64, n*n)
	for k := range v {
		y, x := float64(k/n)-23.5, float64(k%n)-23.5
		r := math.Hypot(x, y)
		v[k] = 1 / (1 + math.Exp(r-15))
		psi[k], theta[k] = math.Mod(math.Atan2(y, x)+0.6+2*math.Pi, 2*math.Pi), math.Pi/2
		q[k%n] = 0.05 * x
		i[k] = math.Exp(-r/3) * (1.2 + math.Cos(r)) * (1 + 0.3*x*x/(r*r+1))
		if k == 0 || k%n == n-1 {
			i[k] = math.NaN()
		}
	}
	rows := func(f []float64) (z [][]float64) {
		for j := range n {
			z = append(z, f[j*n:(j+1)*n])
		}
		return z
	}
	return [][]Image{{
		Pattern("285 eV", q, q, i),
		{Title: "director", XLabel: "x (nm)", YLabel: "y (nm)", ZLabel: "psi (rad)", Z: rows(psi), Equal: true, Cyclic: true, Low: 0, High: 2 * math.Pi,
			Arrows: Directors(theta, psi, v, n, n, 1, 4, 0.5)},
	}}
}

// radial is a shell with directors along its radius about a core without any, in a flat box.
func radial(color string) Volume {
	v := Volume{Title: "A shell about a core", Size: [3]float64{60, 50, 30}, Materials: []string{"core", "shell"}, Length: 4, Azimuth: 0.6, Elevation: 0.5, Color: color}
	for k := range 15 * 13 * 8 {
		at := [3]float64{2 + 4*float64(k%15), 2 + 4*float64(k/15%13), 2 + 4*float64(k/195)}
		d := [3]float64{at[0] - 30, at[1] - 26, at[2] - 16}
		r := math.Sqrt(dot3(d, d))
		switch {
		case r < 6:
			v.Sticks = append(v.Sticks, Stick{At: at, Opacity: 0.8})
		case r < 16:
			for i := range d {
				d[i] /= r
			}
			v.Sticks = append(v.Sticks, Stick{At: at, Director: d, Opacity: 1 - (r-6)/14, Material: 1})
		}
	}
	return v
}

// starArms are two arms of a spectrum with lines, of which the model explains all but one, and a few masked pixels.
func starArms() (arms []SpectrumArm) {
	for k, name := range []string{"b", "r"} {
		a := SpectrumArm{Name: name}
		for i := range 160 {
			w := 4900 + 500*float64(k) + 2*float64(i)
			line := func(at, depth float64) float64 { return depth * math.Exp(-(w-at)*(w-at)/50) }
			m := 3 + math.Sin(w/300) - line(5100, 1) - line(5500, 1.4)
			a.Wave, a.Model, a.Err = append(a.Wave, w), append(a.Model, m), append(a.Err, 0.08)
			a.Masked = append(a.Masked, i == 70 || i == 71)
			a.Flux = append(a.Flux, m-line(5600, 0.6)+0.08*math.Sin(float64(i*i))+map[bool]float64{true: 40}[i == 70])
		}
		arms = append(arms, a)
	}
	return arms
}

func TestLook(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Skip("set LOOK to a folder to draw the gallery into")
	}
	for name, draw := range gallery() {
		f, err := draw()
		if err != nil {
			t.Error(name, err)
			continue
		}
		os.WriteFile(filepath.Join(dir, name+".png"), f.PNG(), 0o644)
		os.WriteFile(filepath.Join(dir, name+".svg"), []byte(f.SVG()), 0o644)
		os.WriteFile(filepath.Join(dir, name+".pdf"), f.PDF(), 0o644)
	}
	os.WriteFile(filepath.Join(dir, "report.html"), []byte(exampleReport(t).HTML()), 0o644)
}

// exampleReport has every kind of content.
func exampleReport(t *testing.T) Report {
	t.Helper()
	all := gallery()
	of := func(names ...string) (out []*Figure) {
		for _, n := range names {
			f, err := all[n]()
			if err != nil {
				t.Fatal(n, err)
			}
			out = append(out, f)
		}
		return out
	}
	d := posterior(4, 800)
	sum := diag.Summarize(d.Names, d.X, diag.Settings{})
	sum.Note = "4 chains of 800 draws."
	advice := diag.Diagnose(sum, diag.Evidence{Draws: 3200, Divergences: 60, EBFMI: []float64{1, 1}, MaxDepth: 10})
	return Report{Title: "g2 of bin 7, stretched exponential", Summary: "Silica in water & glycerol <25 °C>, sampled from the counts of 40 delays.",
		Facts: []Fact{{Name: "draws", Value: "4 × 800"}, {Name: "divergences", Value: "60", Verdict: Bad}, {Name: "R-hat", Value: "1.00", Verdict: Good},
			{Name: "effective draws", Value: "924", Verdict: Good}, {Name: "time", Value: "3.1 s"}, {Name: "seed", Value: "1"}},
		Sections: []Section{
			{Title: "Result", Text: "The model describes the data.\n\n- the band holds 98 % of the points\n- the residuals show no trend", Tables: []string{sum.HTML()}, Figures: of("fit", "predictive", "density")},
			{Title: "Diagnostics", Tables: []string{advice.HTML()}, Figures: of("trace", "rank", "pair", "energy")},
			{Title: "All bins", Figures: of("grid", "parameters", "heat")},
		}}
}
