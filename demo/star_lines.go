package demo

import (
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/models/spectra/build"
)

// starKinds are the exponents of iron and of alpha abundances in the strengths of lines.
var starKinds = map[string][2]float64{"H": {0, 0}, "Fe": {1.1, 0}, "FeII": {0.9, 0}, "Alpha": {1, 1}, "CaII": {0.8, 0.5}, "Cr": {1.2, 0}}

// starLines are strong lines of late-type stars: wavelengths in air (Angstrom), and strengths and widths that look
// like those of stars, but are made up.
var starLines = []struct {
	air                  float64
	kind                 string
	strength, teff, g, w float64
	lorentz              bool
}{
	{4861.33, "H", 1.0, 0.6, 0, 2.2, true}, {6562.80, "H", 1.2, 0.6, 0, 2.0, true}, {8467.25, "H", 0.15, 0.9, 0, 3, true}, {8502.48, "H", 0.2, 0.9, 0, 3, true},
	{8545.38, "H", 0.22, 0.9, 0, 3, true}, {8598.39, "H", 0.25, 0.9, 0, 3, true}, {8665.02, "H", 0.28, 0.9, 0, 3, true},
	{8498.02, "CaII", 1.7, -0.15, -0.12, 0.9, true}, {8542.09, "CaII", 2.6, -0.15, -0.12, 1.3, true}, {8662.14, "CaII", 2.3, -0.15, -0.12, 1.15, true},
	{5167.32, "Alpha", 1.4, -0.45, 0.28, 0.5, true}, {5172.68, "Alpha", 1.8, -0.45, 0.3, 0.6, true}, {5183.60, "Alpha", 2.2, -0.45, 0.32, 0.7, true},
	{6462.57, "Alpha", 0.7, -0.4, 0.05, 0.3, false}, {6471.66, "Alpha", 0.4, -0.4, 0.05, 0.3, false}, {6493.78, "Alpha", 0.8, -0.4, 0.05, 0.3, false},
	{6499.65, "Alpha", 0.45, -0.4, 0.05, 0.3, false}, {6572.78, "Alpha", 0.4, -0.9, -0.1, 0.3, false}, {8556.78, "Alpha", 0.3, 0.05, 0, 0.35, false},
	{8648.47, "Alpha", 0.35, 0.05, 0, 0.35, false}, {4981.73, "Alpha", 0.6, -0.7, 0, 0.3, false}, {4991.07, "Alpha", 0.55, -0.7, 0, 0.3, false},
	{4999.50, "Alpha", 0.55, -0.7, 0, 0.3, false}, {5014.24, "Alpha", 0.5, -0.7, 0, 0.3, false}, {5064.65, "Alpha", 0.4, -0.7, 0, 0.3, false}, {5210.38, "Alpha", 0.45, -0.7, 0, 0.3, false},
	{4871.32, "Fe", 0.9, -0.35, 0.05, 0.3, false}, {4891.49, "Fe", 1.0, -0.35, 0.05, 0.3, false}, {4920.50, "Fe", 1.1, -0.35, 0.05, 0.32, false}, {4957.60, "Fe", 1.3, -0.35, 0.05, 0.34, false},
	{5012.07, "Fe", 0.7, -0.55, 0, 0.3, false}, {5041.76, "Fe", 0.6, -0.5, 0, 0.3, false}, {5051.63, "Fe", 0.6, -0.55, 0, 0.3, false}, {5079.74, "Fe", 0.5, -0.5, 0, 0.3, false},
	{5107.45, "Fe", 0.5, -0.5, 0, 0.3, false}, {5110.41, "Fe", 0.6, -0.8, -0.05, 0.3, false}, {5139.25, "Fe", 0.7, -0.35, 0.05, 0.3, false}, {5150.84, "Fe", 0.5, -0.5, 0, 0.3, false},
	{5191.45, "Fe", 0.8, -0.35, 0.05, 0.3, false}, {5194.94, "Fe", 0.6, -0.5, 0, 0.3, false}, {5202.34, "Fe", 0.5, -0.45, 0, 0.3, false}, {5216.27, "Fe", 0.5, -0.5, 0, 0.3, false},
	{5227.19, "Fe", 1.0, -0.5, 0, 0.32, false}, {5232.94, "Fe", 1.0, -0.35, 0.05, 0.32, false}, {5250.65, "Fe", 0.5, -0.5, 0, 0.3, false}, {5266.56, "Fe", 0.8, -0.35, 0.05, 0.3, false},
	{5269.54, "Fe", 1.6, -0.55, 0.05, 0.36, false}, {6475.62, "Fe", 0.3, -0.5, 0, 0.32, false}, {6481.87, "Fe", 0.35, -0.5, 0, 0.32, false}, {6494.98, "Fe", 0.8, -0.45, 0, 0.34, false},
	{6518.37, "Fe", 0.3, -0.5, 0, 0.32, false}, {6546.24, "Fe", 0.5, -0.45, 0, 0.32, false}, {6592.91, "Fe", 0.5, -0.45, 0, 0.32, false}, {6593.87, "Fe", 0.4, -0.5, 0, 0.32, false},
	{6609.11, "Fe", 0.35, -0.5, 0, 0.32, false}, {6663.44, "Fe", 0.4, -0.5, 0, 0.32, false}, {6677.99, "Fe", 0.6, -0.45, 0, 0.32, false},
	{8468.41, "Fe", 0.5, -0.6, -0.03, 0.4, false}, {8514.07, "Fe", 0.45, -0.6, -0.03, 0.4, false}, {8582.26, "Fe", 0.35, -0.4, 0, 0.4, false}, {8611.80, "Fe", 0.4, -0.5, 0, 0.4, false},
	{8621.60, "Fe", 0.4, -0.4, 0, 0.4, false}, {8674.75, "Fe", 0.45, -0.5, 0, 0.4, false}, {8688.62, "Fe", 0.8, -0.5, -0.02, 0.45, false},
	{4923.93, "FeII", 0.6, 0.15, -0.3, 0.32, false}, {5018.44, "FeII", 0.7, 0.15, -0.3, 0.32, false}, {5197.57, "FeII", 0.3, 0.15, -0.3, 0.3, false}, {5234.62, "FeII", 0.35, 0.15, -0.3, 0.3, false},
	{5276.00, "FeII", 0.4, 0.15, -0.3, 0.3, false}, {6456.38, "FeII", 0.3, 0.2, -0.3, 0.32, false}, {6516.08, "FeII", 0.25, 0.2, -0.3, 0.32, false},
	{5204.51, "Cr", 0.7, -0.7, 0, 0.3, false}, {5206.04, "Cr", 0.8, -0.7, 0, 0.3, false}, {5208.42, "Cr", 0.9, -0.7, 0, 0.3, false}, {6586.31, "Cr", 0.3, -0.5, 0, 0.32, false}, {6643.63, "Cr", 0.4, -0.5, 0, 0.32, false},
}

// StarLines returns the analytic model of the demonstration's stars.
func StarLines() *build.LineList {
	l := &build.LineList{Kinds: starKinds, C2: 143877687.7}
	for _, x := range starLines {
		l.Lines = append(l.Lines, build.Line{Lam: survey.Vacuum(x.air), Kind: x.kind, Strength: x.strength, Teff: x.teff, LogG: x.g, Width: x.w, Lorentz: x.lorentz})
	}
	return l
}

// StarArms returns the arms of the demonstration's instrument: short pieces of DESI's arms.
func StarArms() []build.Arm {
	return []build.Arm{
		{Name: "desi_b", First: 4820, Last: 5280, Step: 0.4, Power: "x/1.55"},
		{Name: "desi_r", First: 6440, Last: 6700, Step: 0.4, Power: "x/1.55"},
		{Name: "desi_z", First: 8440, Last: 8700, Step: 0.4, Power: "x/1.8"},
	}
}
