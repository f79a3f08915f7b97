// Package build makes libraries of stellar template spectra: a catalogue of the spectra of a model grid, their
// rebinning to the pixels and the resolution of an instrument's arm, and the grids or triangulations between them.
//
//	catalogue, err := build.Scan(ctx, "PHOENIX/*.fits", build.ScanSettings{})
//	arm, err := build.ByName("desi_b")
//	templates, err := build.Templates(ctx, build.Files{Catalogue: catalogue, Dir: "PHOENIX", Wave: wave}, arm, build.Settings{})
//	library, err := build.Regular(templates)
//	err = library.Save("templ_data")
//
// A [LineList] stands for a model grid where there is none, for demonstrations and tests.
//
// Wavelengths are in Angstrom, in vacuum unless said otherwise; velocities in km/s, temperatures in K.
package build
