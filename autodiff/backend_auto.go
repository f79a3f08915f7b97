// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// DeviceWorth is the total size of a program's arrays, in bytes, from which Auto uses a GPU: 8 MiB,
// or a million float64. A processor spends about a millisecond on arrays of that size, whereas a
// launch of the program on a GPU, with the copies of its inputs and outputs, is expected to take
// tens of microseconds. The number is an estimate; large matrix products repay a GPU earlier.
const DeviceWorth = 8 << 20

// Auto runs a program on a GPU if its arrays take at least DeviceWorth bytes and the GPU can be
// opened, and on the processor otherwise. The choice is made once, by Compile: a GPU that is lost
// or out of memory later makes Run return an error. The zero value is the default.
type Auto struct {
	CUDA CUDA // GPU to use
	CPU  CPU  // settings of the processor
	// Least replaces DeviceWorth. A negative value uses the GPU for programs of every size.
	Least int
	// Chosen, if not nil, is called with every choice.
	Chosen func(Choice)
}

// Choice says where Auto runs a program and why.
type Choice struct {
	// Name says what is computed. It is empty for a program.
	Name   string
	Device string // name of the device, such as "cpu" or "cuda:0"
	Bytes  int    // memory of the arrays, in bytes
	Least  int    // memory from which a GPU is used, in bytes
	// Err says why the GPU could not be used. It is nil unless the program is large enough for the
	// GPU.
	Err error
}

// String describes the choice in words.
func (c Choice) String() string {
	what := "computing"
	if c.Name != "" {
		what = "computing " + c.Name
	}
	switch {
	case c.Err != nil:
		return fmt.Sprintf("%s on the processor, as the GPU cannot be used: %v", what, c.Err)
	case c.Device == "cpu":
		return fmt.Sprintf("%s on the processor: arrays of %d bytes, and a GPU is taken from %d", what, c.Bytes, c.Least)
	}
	return fmt.Sprintf("%s on %s: arrays of %d bytes, and a GPU is taken from %d", what, c.Device, c.Bytes, c.Least)
}

func (a Auto) gpus() (list []CUDA, must bool) { return []CUDA{a.CUDA}, false }

func (a Auto) withGPUs(change func(CUDA) CUDA) Backend {
	a.CUDA = change(a.CUDA)
	return a
}

func (a Auto) options(s Settings) (cpu.Settings, error) { return a.CPU.options(s) }

func (a Auto) compile(p *compiler.Program, s Settings) (*cuda.Code, error) {
	c := a.choice("", arrayBytes(p, s))
	if c.Bytes < c.Least {
		a.tell(c)
		return nil, nil
	}
	_, err := a.CUDA.deviceFor(Need{Name: "the program", Least: c.Bytes / a.CUDA.narrowing()})
	var code *cuda.Code
	if err == nil {
		code, err = a.CUDA.compile(p, s)
	}
	switch {
	case err == nil:
		c.Device = code.Device().String()
	case unsuited(err):
		c.Err, err = err, nil
	default:
		return nil, err
	}
	a.tell(c)
	return code, err
}

// choice begins with the processor.
func (a Auto) choice(name string, bytes int) Choice {
	c := Choice{Name: name, Device: "cpu", Bytes: bytes, Least: a.Least}
	if c.Least == 0 {
		c.Least = DeviceWorth
	}
	return c
}

func (a Auto) tell(c Choice) {
	if a.Chosen != nil {
		a.Chosen(c)
	}
}

// arrayBytes returns the memory of the arrays of a program.
func arrayBytes(p *compiler.Program, s Settings) int {
	reals, ints := p.Sizes()
	return reals*(s.Precision/8) + ints*8
}

// unsuited reports whether an error says that a GPU cannot be used for this, rather than that it failed.
func unsuited(err error) bool { return unopened(err) || errors.As(err, new(*device.RoomError)) }

// unopened reports whether an error says that there is no usable GPU, rather than that one failed.
func unopened(err error) bool {
	for _, e := range []error{device.ErrNoDriver, device.ErrNoDevice, device.ErrDriverTooOld, rtc.ErrNoCompiler} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// IsDeviceFault reports whether an error says that a GPU cannot be opened, is lost, or is out of
// memory, so that the device has failed and not the computation.
func IsDeviceFault(err error) bool {
	return unopened(err) || errors.Is(err, device.ErrDeviceLost) || errors.Is(err, device.ErrOutOfMemory) || errors.As(err, new(*device.Error))
}

// Device returns the name of the device on which the program runs: "cpu", or a GPU such as
// "cuda:0".
func (p *Program) Device() string {
	if p.device == nil {
		return "cpu"
	}
	return p.device.Device().String()
}
