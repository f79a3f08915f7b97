// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"testing"
)

// NVIDIA's own libraries, held to what the pretend ones promise; those that the machine lacks are
// skipped.

func TestGPULibrariesFound(t *testing.T) {
	gpu(t, Settings{})
	for _, f := range FindLibraries() {
		t.Logf("%s %s %s %v", f.Name, f.Version, f.Path, f.Err)
	}
}

func TestGPULibraries(t *testing.T) {
	for name, check := range map[string]func(t *testing.T, d *Device, seed int){
		"MatMul":          checkMatMul,
		"SolveTriangular": checkSolveTriangular,
		"FFT":             func(t *testing.T, d *Device, seed int) { checkFFT(t, d, seed, fftShapes[seed%len(fftShapes)]) },
		"Cholesky":        checkCholesky,
		"LU":              checkLU,
		"QR":              checkQR,
		"Eigh":            checkEigh,
		"SVD":             func(t *testing.T, d *Device, seed int) { checkSVD(t, d, seed, svdShapes[seed%len(svdShapes)]) },
		"Convolve": func(t *testing.T, d *Device, seed int) {
			checkConvolution(t, d, seed, convolutions[seed%len(convolutions)])
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := gpu(t, Settings{})
			need := map[string]string{"MatMul": "cuBLAS", "SolveTriangular": "cuBLAS", "FFT": "cuFFT", "Convolve": "cuDNN"}[name]
			if need == "" {
				need = "cuSOLVER"
			}
			for _, f := range FindLibraries() {
				if f.Name == need && f.Err != nil {
					t.Skipf("lacks %s: %v", need, f.Err)
				}
			}
			for seed := range 10 {
				check(t, d, seed)
			}
		})
	}
}

func TestGPULibrariesInGraphs(t *testing.T) {
	d := gpu(t, Settings{})
	w := newLibraryWork(t, d)
	defer w.free()
	err := w.run(d.Default(), 1)
	if errors.Is(err, ErrNoLibrary) {
		t.Skipf("lacks a library: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := w.results(t, d)
	g, err := d.Capture(func(s *Stream) error { return w.run(s, 1) })
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for range 5 {
		if err := g.Launch(d.Default()); err != nil {
			t.Fatal(err)
		}
		same(t, "replay", w.results(t, d), want)
	}
}

func TestGPUTune(t *testing.T) {
	d := gpu(t, Settings{})
	w := newTuneWork(t, d, 1000, 4096, 4)
	defer free(w.x, w.y)
	w.t.Family = "twice, a test"
	r, err := d.Tune(background, w.t)
	if err != nil || r.Winner == 3 {
		t.Fatalf("got %+v, %v", r, err)
	}
	t.Logf("%+v", r)
}
