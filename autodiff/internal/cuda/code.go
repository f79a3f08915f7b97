// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// Code is a program compiled for a device. It is safe for concurrent use; each run needs a Machine.
type Code struct {
	p       *compiler.Program
	d       *device.Device
	plan    plan
	layout  *layout
	kernels [][]kernel     // of each job
	calls   bool           // whether libraries are called, to which addresses are given
	waits   bool           // whether one of them may wait for the device
	on      *device.Stream // of all machines; nil if each takes one
	source  *Source
	options Settings
	tuned   int // products that were timed
}

// kernel is a compiled kernel and its geometry.
type kernel struct {
	f           *device.Function
	table       int // place of its arrays in the table of addresses
	grid, block device.Dim
	library     func(l *device.Libraries, s *device.Stream, at func(buf int) device.Part) error // in place of f
	repeated    *repeated                                                                       // in place of f
	external    *externalCall                                                                   // in place of f
	code        *Code                                                                           // of what is repeated
}

// Compile generates and compiles the kernels of a program for a device. Its machines work on a stream, or
// on lanes of the device for nil.
func Compile(p *compiler.Program, d *device.Device, on *device.Stream, o Settings) (*Code, error) {
	o.Device = d
	return compile(p, d, on, o, Generate(p, o))
}

func compile(p *compiler.Program, d *device.Device, on *device.Stream, o Settings, source *Source) (*Code, error) {
	if source.err != nil {
		return nil, source.err
	}
	c := &Code{p: p, d: d, on: on, options: o, source: source}
	if o.Tune && len(c.source.products) > 0 {
		if err := c.tune(); err != nil {
			return nil, err
		}
	}
	c.plan = planOf(p, c.source)
	c.layout = layOut(p, c.source.Last, c.width)
	c.kernels = make([][]kernel, len(p.Jobs))
	if c.launches() == 0 {
		return c, nil
	}
	find, err := load(d, c.source.Text)
	if err != nil {
		return nil, err
	}
	for i, list := range c.source.Jobs {
		for _, l := range list {
			k := kernel{grid: device.Dim{X: l.Grid}, block: device.Dim{X: l.Block}, table: l.table, library: l.Library}
			c.waits = c.waits || l.Waits
			switch c.calls = c.calls || l.Library != nil || l.repeated != nil || l.external != nil; {
			case l.external != nil:
				k.external = l.external
			case l.repeated != nil:
				k.repeated = l.repeated
				if k.code, err = compile(l.repeated.Body, d, on, o, l.repeated.source); err == nil {
					c.waits = c.waits || k.code.waits
				}
			case l.Library == nil:
				k.f, err = find(l.Kernel)
			}
			if err != nil {
				return nil, err
			}
			c.kernels[i] = append(c.kernels[i], k)
		}
	}
	return c, nil
}

// width returns the bytes of an element of an array.
func (c *Code) width(buf int) int {
	switch {
	case c.p.IsInts(buf):
		return 8
	case c.source.Narrow[buf]:
		return 2
	}
	return c.options.Bits / 8
}

// Stored returns the type in which an array of reals is held, if that is not the one of the reals.
func (c *Code) Stored(buf int) string {
	if c.source.Narrow[buf] {
		return c.options.Storage
	}
	return ""
}

func (c *Code) launches() int { return c.source.launches() }

// Hosted lists the operations that run on the processor, each with the number of its jobs.
func (c *Code) Hosted() map[string]int {
	list := map[string]int{}
	for _, i := range c.plan.hosted {
		list[c.p.Jobs[i].Step.Op.Name]++
	}
	return list
}

// Text returns the kernels in CUDA C.
func (c *Code) Text() string { return c.source.Text }

// String says where the jobs run.
func (c *Code) String() string {
	text := fmt.Sprintf("%v: %d kernels", c.d, c.launches())
	if c.tuned > 0 {
		text += fmt.Sprintf(", %d products timed", c.tuned)
	}
	var names []string
	for name, n := range c.Hosted() {
		names = append(names, fmt.Sprintf("%s (%d)", name, n))
	}
	if len(names) > 0 {
		slices.Sort(names)
		text += "; on the processor: " + strings.Join(names, ", ")
	}
	return text
}
