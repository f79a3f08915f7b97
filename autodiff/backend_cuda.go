package autodiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// CUDA runs programs on an NVIDIA GPU, with kernels that are generated and compiled for it. The zero
// value is the first GPU.
//
// Inputs and outputs are arrays in the processor's memory as with CPU. What Input returned is sent
// with every Run and what Output returned is fetched after every Run, so take only those that you
// use. Operations without a kernel run on the processor, with copies in between: Program.String
// lists them. Results agree with the processor's up to rounding, and have the same bits in every
// run on one kind of device.
type CUDA struct {
	// Device is the number of the GPU, from 0.
	Device int
	// Strict makes Compile return an error if an operation has no kernel.
	Strict bool
}

func (c CUDA) options(s Settings) (cpu.Options, error) {
	return CPU{}.options(s)
}

func (c CUDA) compile(p *compiler.Program, s Settings) (*cuda.Code, error) {
	d, err := device.Open(c.Device, device.Options{})
	if err != nil {
		return nil, fmt.Errorf("autodiff: GPU %d: %w", c.Device, err)
	}
	code, err := cuda.Compile(p, d, s.Precision, s.Isolate)
	if err != nil {
		return nil, err
	}
	if hosted := code.Hosted(); c.Strict && len(hosted) > 0 {
		var names []string
		for name := range hosted {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("autodiff: no kernels for %s: without Strict they run on the processor", strings.Join(names, ", "))
	}
	return code, nil
}
