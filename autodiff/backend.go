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
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// Backend is where programs and simulators run: [CPU], [CUDA], [Auto] or [Several]. Other packages ask [DeviceFor], [Spread], [GPUs] and
// [OnProcessor] about it.
type Backend interface {
	options(s Settings) (cpu.Settings, error)
	// compile makes the code of a program for a device; nil if it runs on the processor.
	compile(p *compiler.Program, s Settings) (*cuda.Code, error)
	// deviceFor opens the GPU on which a computation runs; nil if it runs on the processor.
	deviceFor(n Need) (*device.Device, error)
	// gpus returns the settings of the GPUs, and whether the processor cannot take their place.
	gpus() (list []CUDA, must bool)
	// withGPUs returns a copy with the settings of each GPU changed.
	withGPUs(change func(CUDA) CUDA) Backend
}

// CPU runs programs on the processor. The zero value is the default.
type CPU struct {
	// Threads is the largest number of goroutines that work on one large array. Results do not
	// depend on it. Default: GOMAXPROCS; small programs use one.
	Threads int
	// SIMD is the instruction set: "avx512", "avx2", "neon" or "go". Default: the best that this processor
	// has.
	SIMD string
}

func (c CPU) options(s Settings) (cpu.Settings, error) {
	o := cpu.Settings{Threads: c.Threads, Isolate: s.Isolate, Level: kernels.Best()}
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

func (c CPU) deviceFor(Need) (*device.Device, error) { return nil, nil }

func (c CPU) gpus() (list []CUDA, must bool) { return nil, false }

func (c CPU) withGPUs(func(CUDA) CUDA) Backend { return c }

// GPUs returns the settings of the GPUs that a backend uses, or may use; none for CPU and nil.
func GPUs(b Backend) []CUDA {
	if b == nil {
		return nil
	}
	list, _ := b.gpus()
	return list
}

// WithGPUs returns a copy of a backend with the settings of each of its GPUs changed.
func WithGPUs(b Backend, change func(CUDA) CUDA) Backend {
	if b == nil {
		return nil
	}
	return b.withGPUs(change)
}

// OnProcessor reports whether a backend uses the processor alone, as CPU and nil do.
func OnProcessor(b Backend) bool { return !NeedsGPU(b) && len(GPUs(b)) == 0 }

// NeedsGPU reports whether a computation fails if the GPUs of a backend cannot be used, which is so unless it is Auto.
func NeedsGPU(b Backend) bool {
	if b == nil {
		return false
	}
	_, must := b.gpus()
	return must
}
