// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// spectraField is stellar spectra.
func spectraField() field {
	return field{commands: []command{
		{verb: "fit", make: (*app).fitSpectra, takes: takesOut | takesDevice | takesPrecision},
		{verb: "sample", make: (*app).sampleSpectrum, takes: takesOut | takesResume | takesDevice},
		{verb: "build", make: (*app).buildCatalogue},
		{verb: "build", make: (*app).buildLibrary},
		{verb: "build", make: (*app).buildConvert},
		{verb: "train", make: (*app).trainSpectrum, takes: onProcessor},
		{verb: "plot", make: (*app).plotSpectrum, takes: takesDevice},
		{verb: "demo", make: (*app).demoSpectrum, takes: takesOut | takesDevice},
	}}
}
