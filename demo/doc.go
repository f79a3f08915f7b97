// Package demo holds the data sets of the demonstrations. They are small and synthetic,
// and need no network.
//
//	err := os.WriteFile("g2_result.hdf", demo.Correlations(), 0o644)
//	curves, err := g2.OpenCurves("g2_result.hdf")
//
//	err = demo.WriteParticle(ctx, "particle", "my study")
//	task, err := morph.OpenTask("particle/problem.json", 0)
//	best, err := task.Fit(ctx, morph.FitSettings{}) // demo.Particle() is the truth
//
//	for _, x := range demo.Experiments() {
//		s, err := script.Parse(x.Name, x.Script())
//	}
//
//	files, err := demo.StarLibrary(ctx, demo.LibrarySettings{})
//	lib, err := spectra.From(files, spectra.LoadSettings{})
//	stars, truth, err := demo.Stars(ctx, lib, 10, demo.StarSettings{})
//	fibers, err := demo.WriteDESI(ctx, dir, "main-1234", lib, 500, demo.StarSettings{})
package demo
