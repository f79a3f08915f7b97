// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"maps"
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
	// Stream is where States put their work, of a device that is open; Device does not count then. Default:
	// each State takes one of a few streams of the device, so that States of several goroutines overlap.
	Stream *device.Stream
	// OwnKernels leaves NVIDIA's libraries out. Default: where they are found, cuBLAS makes large products, cuFFT
	// large Fourier transforms, and cuSOLVER factors matrices of more than 512 rows.
	OwnKernels bool
	// Strict makes Compile return an error if an operation has no kernel.
	Strict bool
	// Storage is how the device holds large arrays of a program of float32: those of at least 1024
	// numbers that operations with kernels for it read and write, except maxima and minima along axes.
	// Numbers convert when they are read and are rounded when they are written; arithmetic and sums are as
	// without it. Default: as the program computes.
	Storage Storage
	// Weights is how the device holds large constant matrices that are only factors of products, such as the weights of a
	// network, in a program of float32, where Storage is not set: rounded once, and all else as the program computes.
	Weights Storage
	// TF32 rounds the factors of products of float32 matrices to 11 binary digits, for which a GPU has
	// units of its own. Products with vectors and sums are as without it.
	TF32 bool
	// Tune times the ways in which kernels cut large products of matrices, two million multiplications or more that
	// no library makes, when a program is compiled, and takes the fastest; what was found is kept beside the compiled
	// kernels. The results have the same bits with it and without. Default: cut by a rule, without timing.
	Tune bool
}

// Storage is a type of numbers in the memory of a device. The zero value is that of the program.
type Storage string

const (
	Float16  Storage = "float16"  // 11 binary digits, up to 65504
	BFloat16 Storage = "bfloat16" // 8 binary digits, the range of float32
)

func (c CUDA) generate(s Settings) (cuda.Options, error) {
	o := cuda.Options{Bits: s.Precision, Isolate: s.Isolate, TF32: c.TF32, Tune: c.Tune}
	storage := c.Storage
	if storage == "" {
		storage, o.Weights = c.Weights, c.Weights != ""
	}
	switch storage {
	case "":
	case Float16:
		o.Storage = cuda.Float16
	case BFloat16:
		o.Storage = cuda.BFloat16
	default:
		return o, fmt.Errorf("autodiff: there is no storage %q: use Float16, BFloat16 or none", storage)
	}
	if s.Precision != 32 && (storage != "" || c.TF32) {
		return o, fmt.Errorf("autodiff: Storage, Weights and TF32 need a program in float32, but Precision is %d: set it to 32", s.Precision)
	}
	return o, nil
}

// narrowing is how much smaller Storage can make arrays.
func (c CUDA) narrowing() int {
	if c.Storage != "" {
		return 2
	}
	return 1
}

func (c CUDA) options(s Settings) (cpu.Options, error) {
	return CPU{}.options(s)
}

func (c CUDA) compile(p *compiler.Program, s Settings) (*cuda.Code, error) {
	o, err := c.generate(s)
	if err != nil {
		return nil, err
	}
	d, err := c.open()
	if err != nil {
		return nil, err
	}
	if !c.OwnKernels {
		o.Libraries = d.Libraries()
	}
	code, err := cuda.Compile(p, d, c.Stream, o)
	if err != nil {
		return nil, err
	}
	if hosted := slices.Sorted(maps.Keys(code.Hosted())); c.Strict && len(hosted) > 0 {
		return nil, fmt.Errorf("autodiff: there are no GPU kernels for %s: switch Strict off to run them on the processor", strings.Join(hosted, ", "))
	}
	return code, nil
}
