// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package spectra

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/golden/templates"
)

// The posterior of a star is that of a long run of another sampler.
func TestPosteriorGoldenWhole(t *testing.T) {
	posteriorGolden(t, infer.Settings{Seed: 1}, 0.1, 0.06, 400)
}

// Networks that are trained with the defaults follow the library at least as well as the reference's of the
// same size.
func TestTrainingReachesReference(t *testing.T) {
	points, _ := npy(t, "library", "grid_vec_mapped.npy")
	points = transposed(points, 4)
	u := slices.Clone(points)
	for i := 0; i < len(u); i += 4 {
		u[i] = math.Pow(10, u[i])
	}
	for _, arm := range templates.Arms(t) {
		y, shape := npy(t, "library", "interpdat_"+arm+".npy")
		reference := goldenNetwork(t, arm)
		flux, _ := evaluate(t, reference, u)
		mean, _ := moments(y, shape[1])
		sum, square, miss, n := 0.0, 0.0, 0.0, float64(len(y))
		for i, v := range y {
			d := v - mean[i%shape[1]]
			sum, square, miss = sum+d, square+d*d, miss+math.Abs(math.Log(flux[i])-v)
		}
		want := miss / n / math.Sqrt(square/n-sum/n*sum/n)
		layers := reference.Interpolator.(*Network).Layers
		r, err := Train(context.Background(), points, 4, y, TrainSettings{Width: layers[0].Out, Hidden: len(layers) - 3, Components: layers[len(layers)-1].In})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Converged || !(r.Loss <= want) {
			t.Errorf("%s: loss %v after %d epochs, want %v", arm, r.Loss, r.Epoch, want)
		}
		t.Logf("%s: loss %.5f after %d epochs, the reference's network %.5f", arm, r.Loss, r.Epoch, want)
	}
}
