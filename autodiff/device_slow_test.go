// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package autodiff_test

import (
	"fmt"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/nvrtc"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

func TestManyGraphsOnDevice(t *testing.T) {
	emulated(t)
	graphsOnDevice(t, 50, 10)
}

// Batches of every operation with its gradient, in both precisions.
func TestBatchesOfGradientsOnDevice(t *testing.T) { batchesOnDevice(t, true, 64, 32) }

func TestProductsOfFloat64OnDevice(t *testing.T) { productsOnDevice(t, 64) }

func TestFloat32GoldensOnDevice(t *testing.T) {
	emulated(t)
	for name, family := range families {
		t.Run(name, func(t *testing.T) { goldensOnDevice(t, family(t), 32) })
	}
}

func TestMillionOnDevice(t *testing.T) { lengthsOnDevice(t, 1_000_001) }

// NVIDIA's compiler makes machine code of the kernels of all operations, for every architecture of the list,
// without warnings.
func TestRealCompilerMakesMachineCode(t *testing.T) {
	c := realCompiler(t)
	for _, bits := range []int{32, 64} {
		for _, target := range []rtc.Target{{Major: 7, Minor: 5}, {Major: 8}, {Major: 9}, {Major: 10}} {
			t.Run(fmt.Sprintf("%d bits, %v", bits, target), func(t *testing.T) {
				image, err := c.Compile(kernelsOf(t, bits), target)
				if err != nil {
					t.Fatal(err)
				}
				if image.PTX || image.Log != "" {
					t.Errorf("%s: %s", image.Arch, image.Log)
				}
				if target.Major == 9 {
					nvrtc.Within(t, image, budgets)
				}
			})
		}
	}
}

// The kernels of random graphs and of their derivatives stay within their budgets.
func TestRandomKernelsWithinBudgets(t *testing.T) {
	c := realCompiler(t)
	for n := range 3 {
		outs, _, _ := randomProgram(n, 4)
		for _, bits := range []int{32, 64} {
			p, err := ad.Compile(outs, ad.Settings{Precision: bits, Backend: ad.CUDA{}})
			if err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(p.Explain(), "\nkernels\n")
			image, err := c.Compile(rtc.Source{Name: "random.cu", Text: text}, rtc.Target{Major: 9})
			if err != nil {
				t.Fatal(err)
			}
			nvrtc.Within(t, image, budgets)
		}
	}
}

// float32 has too few digits for second derivatives.
func TestDerivativesOnDevice(t *testing.T) {
	operationsOnDevice(t, 64, 2)
	operationsOnDevice(t, 32, 1)
}

func TestManyRowChainsOnDevice(t *testing.T) { rowChainsOnDevice(t, 120) }

func TestLargeMatricesByLibrary(t *testing.T) {
	pretend.Shared(t).Libraries(t)
	largeMatrices(t, ad.CUDA{Device: 1, Strict: true}, 515)
}
