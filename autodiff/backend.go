// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"runtime"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/kernels"
)

// Backend runs a program: [CPU] or [CUDA].
type Backend interface {
	options(s Settings) (cpu.Options, error)
	// compile makes the code of a program for a device; nil if it runs on the processor.
	compile(p *compiler.Program, s Settings) (*cuda.Code, error)
}

// CPU runs programs on the processor. The zero value is the default.
type CPU struct {
	// Threads is the largest number of goroutines that work on one large array. Results do not
	// depend on it. Default: GOMAXPROCS; small programs use one.
	Threads int
	// SIMD is the instruction set: "avx512", "avx2" or "go". Default: the best that this processor
	// has.
	SIMD string
}

func (c CPU) options(s Settings) (cpu.Options, error) {
	o := cpu.Options{Threads: c.Threads, Isolate: s.Isolate, Level: kernels.Best()}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if c.SIMD == "" {
		return o, nil
	}
	for _, l := range kernels.Levels() {
		if l.String() == c.SIMD {
			o.Level = l
			return o, nil
		}
	}
	return o, fmt.Errorf("autodiff: the instruction set %q is not available: use one of %v, which this processor has", c.SIMD, kernels.Levels())
}

func (c CPU) compile(*compiler.Program, Settings) (*cuda.Code, error) { return nil, nil }
