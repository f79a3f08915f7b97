// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import "strings"

// pyfaiDetector is what a name of pyFAI stands for: the edge of a square pixel (m), and the numbers of rows and columns.
type pyfaiDetector struct {
	pixel      float64
	rows, cols int
}

// detectors are those of pyFAI 2026.9 that count photons, by their names without what detector leaves out. Geometry files need not give their
// pixels and never their shapes.
var detectors = map[string]pyfaiDetector{
	"eiger16m":      {7.5e-05, 4371, 4150},
	"eiger1m":       {7.5e-05, 1065, 1030},
	"eiger216m":     {7.5e-05, 4362, 4148},
	"eiger21m":      {7.5e-05, 1062, 1028},
	"eiger21mw":     {7.5e-05, 512, 2068},
	"eiger2250k":    {7.5e-05, 512, 512},
	"eiger22mw":     {7.5e-05, 512, 4148},
	"eiger24m":      {7.5e-05, 2162, 2068},
	"eiger2500k":    {7.5e-05, 512, 1028},
	"eiger29m":      {7.5e-05, 3262, 3108},
	"eiger4m":       {7.5e-05, 2167, 2070},
	"eiger500k":     {7.5e-05, 514, 1030},
	"eiger9m":       {7.5e-05, 3269, 3110},
	"jungfrau1m":    {7.5e-05, 1064, 1030},
	"jungfrau4m":    {7.5e-05, 2164, 2068},
	"jungfrau8m":    {7.5e-05, 3333, 3212},
	"lambda10m":     {5.5e-05, 2596, 4676},
	"lambda250k":    {5.5e-05, 516, 516},
	"lambda2m":      {5.5e-05, 1556, 1556},
	"lambda60k":     {5.5e-05, 256, 256},
	"lambda750k":    {5.5e-05, 516, 1556},
	"lambda7m5":     {5.5e-05, 2596, 2596},
	"lambda9m":      {5.5e-05, 3868, 3227},
	"maxipix":       {5.5e-05, 256, 256},
	"maxipix2x2":    {5.5e-05, 516, 516},
	"maxipix5x1":    {5.5e-05, 256, 1296},
	"pilatus100k":   {0.000172, 195, 487},
	"pilatus1m":     {0.000172, 1043, 981},
	"pilatus200k":   {0.000172, 407, 487},
	"pilatus2m":     {0.000172, 1679, 1475},
	"pilatus300k":   {0.000172, 619, 487},
	"pilatus300kw":  {0.000172, 195, 1475},
	"pilatus41m":    {0.00015, 1080, 1033},
	"pilatus4260k":  {0.00015, 530, 513},
	"pilatus4260kw": {0.00015, 255, 1033},
	"pilatus42m":    {0.00015, 1630, 1553},
	"pilatus44m":    {0.00015, 2180, 2073},
	"pilatus6m":     {0.000172, 2527, 2463},
	"pilatus900k":   {0.000172, 619, 1475},
	"pilatus900kw":  {0.000172, 195, 4439},
}

// detector returns the name of the detector as the keys of detectors are written. The material of the sensor makes no difference.
func (p *poni) detector() string {
	return strings.NewReplacer("_", "", "-", "", " ", "", "cdte", "").Replace(strings.ToLower(p.fields["detector"]))
}
