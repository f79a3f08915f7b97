package rsoxs

import (
	"context"
	"fmt"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// BenchmarkGradient compares a forward run with a forward run and its gradient, on
// the particle of the inversion examples: 16 x 48 x 48 voxels, one aligned and one
// isotropic material, 3 energies and 6 angles.
func BenchmarkGradient(b *testing.B) {
	shape := [3]int{16, 48, 48}
	array := func(v float64) *tensor.Tensor {
		t := tensor.New(tensor.Float64, shape[:]...)
		src := tensor.NewStream(1, 1, 0)
		for i, d := 0, t.Data().([]float64); i < len(d); i++ {
			d[i] = v * src.Float64()
		}
		return t
	}
	m := &Morphology{PhysSize: 2.5, Materials: []Material{
		{Vfrac: array(1), S: array(1), Theta: array(3), Psi: array(6)}, {Vfrac: array(1)}}}
	cfg := Config{Energies: []float64{280, 284.7, 285.2}, Angles: Angles{0, 30, 150}, RotMask: true}
	o := Optics{}
	for range cfg.Energies {
		o = append(o, []Constants{{1e-3, 2e-3, 1.5e-3, 1e-3}, {2e-3, 1e-3, 2e-3, 1e-3}})
	}
	for _, workers := range []int{1, 2} {
		for _, grad := range []bool{false, true} {
			b.Run(fmt.Sprintf("workers%d/gradient=%v", workers, grad), func(b *testing.B) {
				cfg.Workers = workers
				s, err := New(shape, 2.5, cfg)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := s.Transform(context.Background(), m); err != nil {
						b.Fatal(err)
					}
					p, err := s.Pattern(context.Background(), o)
					if err != nil {
						b.Fatal(err)
					}
					if grad {
						if _, err := s.Gradient(context.Background(), o, p.Intensity); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
