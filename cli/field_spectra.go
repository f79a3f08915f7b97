// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// spectraField is stellar spectra.
func spectraField() field {
	return field{commands: []command{
		{"fit", (*app).fitSpectra, takesOut | takesDevice | takesPrecision},
		{"sample", (*app).sampleSpectrum, takesOut | takesResume | takesDevice},
		{"build", (*app).buildCatalogue, 0},
		{"build", (*app).buildLibrary, 0},
		{"build", (*app).buildConvert, 0},
		{"train", (*app).trainSpectrum, onProcessor},
		{"plot", (*app).plotSpectrum, takesDevice},
		{"demo", (*app).demoSpectrum, takesOut | takesDevice},
	}}
}
