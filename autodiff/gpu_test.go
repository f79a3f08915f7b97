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

// withGPU runs a test of the pretend device on a GPU, and skips it where there is none.
func withGPU(t *testing.T, test func(t *testing.T)) {
	gpu.Need(t)
	realGPU = true
	defer func() { realGPU = false }()
	test(t)
}

// On a machine with a GPU the tests of the pretend device run on it; scripts/gpu.sh starts them, each in a process of its own.
func TestGPUOperations(t *testing.T) { withGPU(t, TestOperationsOnDevice) }

func TestGPUGoldens(t *testing.T) { withGPU(t, TestGoldensOnDevice) }

func TestGPUPrograms(t *testing.T) { withGPU(t, programsOnGPU) }

func programsOnGPU(t *testing.T) {
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
