// Package morph recovers morphologies from scattering patterns.
//
// A [Scene] describes what scatters as a graph over parameters: built from shapes
// ([Grid.Sphere], [Grid.Cylinder], [Grid.Lamellae]) or ready-made ([CoreShell],
// [Film], [Voxels]). An [Inversion] compares its patterns with data and finds the
// parameters by minimisation, by least squares with an exact Jacobian, or as a
// posterior; [Inversion.Information] says what each energy would tell.
//
//	grid := morph.Grid{Shape: [3]int{16, 48, 48}, Voxel: 2.5}
//	inv := &morph.Inversion{
//		Sim:    sim, // of package sim/rsoxs
//		Optics: optics,
//		Params: []morph.Param{{Name: "radius", Start: []float64{10}}, {Name: "shell", Start: []float64{11}}},
//		Build: func(p []*autodiff.Node) morph.Scene {
//			return morph.CoreShell{Grid: grid, Centre: c, Radius: p[0], Shell: p[1], Aligned: s}.Scene()
//		},
//		Data: measured,
//	}
//	best, err := inv.Minimize(ctx, optim.MinimizeSettings{})
//	fit, err := inv.Sample(ctx, infer.Config{})
//
// Two kinds of files stand for Go: a [Problem] is an inversion as a JSON document, an
// [Experiment] the working directory of CyRSoXS as a simulator takes it.
//
//	p, err := morph.ParseProblem(document)
//	x, err := morph.OpenExperiment(".", "film.h5", morph.ExperimentSettings{})
//	pattern, err := rsoxs.Simulate(ctx, x.Morphology, x.Optics, x.Config)
//
// Lengths are in nm, angles in radians. Shapes are smooth: a fraction of a voxel
// wide at the edge, so that intensities have derivatives by their sizes.
package morph
