// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// realGPU says that the tests of devices run on a GPU.
var realGPU bool

// emulated lets a test run on the pretend device, unless it is to run on a GPU.
func emulated(t *testing.T) {
	t.Helper()
	if !realGPU {
		pretend.Shared(t)
	}
}

// On a machine with a GPU the tests of the pretend device run on it; scripts/gpu.sh starts this.
func TestGPUPrograms(t *testing.T) {
	gpu.Need(t)
	realGPU = true
	defer func() { realGPU = false }()
	t.Run("operations", TestOperationsOnDevice)
	t.Run("goldens", TestGoldensOnDevice)
	t.Run("special points", TestSpecialPointsOnDevice)
	t.Run("graphs", TestGraphsOnDevice)
	t.Run("lengths", TestLengthsOnDevice)
	t.Run("products", TestProductsOnDevice)
	t.Run("batches", TestBatchesOnDevice)
	t.Run("lanes", TestLanesFailAloneOnDevice)
	t.Run("storage", TestStorageOnDevice)
	t.Run("faults", TestFaultsOnDevice)
	t.Run("first fault", TestFirstFaultOnDevice)
	t.Run("factors of float32", TestFactorsOfFloat32OnDevice)
	t.Run("bind after BindDevice", TestBindReplacesBindDevice)
	t.Run("stored maxima", TestMaximaOfStoredNumbersOnDevice)
	t.Run("beside the device", TestOperationsBesideTheDevice)
	t.Run("arrays", TestArraysOfTheDevice)
	t.Run("arrays that stay", TestArraysStayOnTheDevice)
	t.Run("large matrices", func(t *testing.T) { largeMatrices(t, ad.CUDA{}, 700) })
	t.Run("a million", func(t *testing.T) { lengthsOnDevice(t, 1_000_001) })
}
