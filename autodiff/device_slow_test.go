//go:build slow

package autodiff_test

import (
	"fmt"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

func TestManyGraphsOnDevice(t *testing.T) {
	pretend.Shared(t)
	graphsOnDevice(t, 50, 10)
}

func TestFloat32GoldensOnDevice(t *testing.T) {
	pretend.Shared(t)
	for name, family := range families {
		t.Run(name, func(t *testing.T) { goldensOnDevice(t, family(t), 32) })
	}
}

func TestMillionOnDevice(t *testing.T) { lengthsOnDevice(t, 1_000_001) }

// NVIDIA's compiler makes machine code of the kernels of all operations, for every architecture of the list,
// without warnings.
func TestRealCompilerMakesMachineCode(t *testing.T) {
	c := realCompiler(t)
	for _, bits := range []int{64, 32} {
		source := kernelsOf(t, bits)
		for _, target := range []rtc.Target{{Major: 7, Minor: 5}, {Major: 8}, {Major: 9}, {Major: 10}} {
			t.Run(fmt.Sprintf("%d bits, %v", bits, target), func(t *testing.T) {
				image, err := c.Compile(source, target)
				if err != nil {
					t.Fatal(err)
				}
				if image.PTX || image.Log != "" {
					t.Errorf("%s: %s", image.Arch, image.Log)
				}
			})
		}
	}
}
