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

// CUDA runs programs on an NVIDIA GPU, with kernels that are generated and compiled for it. The
// zero value is the first GPU.
//
// Inputs and outputs are arrays in the processor's memory as with CPU. An array that Input has
// returned is sent with every Run, and one that Output has returned is fetched after every Run, so
// ask only for those that you use. Operations without a kernel run on the processor, with copies in
// between: Program.String lists them. Results agree with the processor's up to rounding, and have
// the same bits in every run on one kind of device.
type CUDA struct {
	// Device is the number of the GPU, counted from 0.
	Device int
	// Stream is the stream on which States put their work. Its device must be open, and Device is
	// then ignored. Default: each State uses one of a few streams of the device, so that States of
	// several goroutines overlap.
	Stream *device.Stream
	// OwnKernels avoids NVIDIA's libraries. By default, if the libraries are found, cuBLAS computes
	// large products, cuFFT computes large Fourier transforms, and cuSOLVER factors matrices of
	// more than 512 rows.
	OwnKernels bool
	// Strict makes Compile return an error if an operation has no kernel.
	Strict bool
	// Storage is the type in which the device stores large arrays of a program in float32: those of
	// at least 1024 numbers that are read and written by operations with kernels for it, except
	// maxima and minima along axes. Numbers are converted when they are read and rounded when they
	// are written; arithmetic and sums do not change. Default: the precision of the program.
	Storage Storage
	// Weights is the type in which the device stores large constant matrices that are used only as
	// factors of products, such as the weights of a neural network, in a program in float32. It
	// applies if Storage is not set. The matrices are rounded once; everything else keeps the
	// program's precision.
	Weights Storage
	// TF32 rounds the factors of float32 matrix products to 11 binary digits, for which a GPU has
	// special units. Products with vectors, and sums, do not change.
	TF32 bool
	// Tune measures, when a program is compiled, the ways in which kernels can divide large matrix
	// products (two million multiplications or more that no library computes) and uses the fastest.
	// The outcome is kept beside the compiled kernels. The bits of the results do not depend on it.
	// Default: divide by a rule, without timing.
	Tune bool
}

// Storage is a type of numbers in device memory. The zero value is the precision of the program.
type Storage string

const (
	Float16  Storage = "float16"  // 11 significant binary digits, up to 65504
	BFloat16 Storage = "bfloat16" // 8 significant binary digits, with the range of float32
)

func (c CUDA) gpus() (list []CUDA, must bool) { return []CUDA{c}, true }

func (c CUDA) withGPUs(change func(CUDA) CUDA) Backend { return change(c) }

func (c CUDA) generate(s Settings) (cuda.Settings, error) {
	o := cuda.Settings{Bits: s.Precision, Isolate: s.Isolate, TF32: c.TF32, Tune: c.Tune}
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

func (c CUDA) options(s Settings) (cpu.Settings, error) {
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
