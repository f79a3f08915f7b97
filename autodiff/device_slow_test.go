//go:build slow

package autodiff_test

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

func TestManyGraphsOnDevice(t *testing.T) {
	pretend.Shared(t)
	graphsOnDevice(t, 50, 10)
}

// Batches of every operation with its gradient, in both precisions.
func TestBatchesOfGradientsOnDevice(t *testing.T) { batchesOnDevice(t, true, 64, 32) }

func TestProductsOfFloat64OnDevice(t *testing.T) { productsOnDevice(t, 64) }
