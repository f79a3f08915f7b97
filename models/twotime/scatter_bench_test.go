package twotime

import (
	"testing"
)

// BenchmarkCovariance times the covariance of the cells of an angle of 1000 frames from 1024 pixels.
func BenchmarkCovariance(b *testing.B) {
	d, truth := shear(b, 1, 1000, 0.02)
	c, err := newCells(&d, &Priors{}, PosteriorSettings{})
	if err != nil {
		b.Fatal(err)
	}
	f, err := newFields(d.Setup)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g, parts, err := f.at(truth, d.Setup.Angles[0])
		if err != nil {
			b.Fatal(err)
		}
		source, err := newSpeckles(parts, 1000, 0.2, 1.01, 2)
		if err != nil {
			b.Fatal(err)
		}
		newScatter(source, &d, 0, c.blocks.cells, c.blocks.count[0], g, 0.2, 1.01).covariance(1024, 1, 0)
	}
}
