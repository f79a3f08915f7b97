// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// Several is a Backend of several GPUs. Engines use Spread to share independent pieces of work
// among them, such as chains, fits, spectra and photon energies. A single Program runs on the
// first.
type Several []CUDA

// String names the GPUs in the way the command line does, such as cuda:0,1.
func (s Several) String() string {
	var b strings.Builder
	for i, c := range s {
		if c.Stream != nil {
			c.Device = c.Stream.Device().Ordinal()
		}
		fmt.Fprintf(&b, "%s%d", []string{"cuda:", ","}[min(i, 1)], c.Device)
	}
	return b.String()
}

// DeviceName returns the name of what b runs on; for a single device, on is that name.
func DeviceName(b Backend, on string) string {
	if list := GPUs(b); len(list) > 1 && on != "cpu" {
		return Several(list).String()
	}
	return on
}

func (s Several) options(set Settings) (cpu.Settings, error) { return CPU{}.options(set) }

func (s Several) compile(p *compiler.Program, set Settings) (*cuda.Code, error) {
	if len(s) == 0 {
		return nil, errors.New("autodiff: Several lists no GPU: list at least one")
	}
	return s[0].compile(p, set)
}

func (s Several) deviceFor(n Need) (*device.Device, error) {
	if len(s) == 0 {
		return nil, fmt.Errorf("autodiff: Several lists no GPU for %s: list at least one", n.Name)
	}
	return s[0].deviceFor(n)
}

func (s Several) gpus() (list []CUDA, must bool) { return s, true }

func (s Several) withGPUs(change func(CUDA) CUDA) Backend {
	all := make(Several, len(s))
	for i, c := range s {
		all[i] = change(c)
	}
	return all
}

// Spread lists the backends among which an engine may share work: each GPU of Several by itself, and otherwise b
// alone.
func Spread(b Backend) []Backend {
	several, ok := b.(Several)
	if !ok || len(several) == 0 {
		return []Backend{b}
	}
	list := make([]Backend, len(several))
	for i, c := range several {
		list[i] = c
	}
	return list
}
