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
	kernels [][]kernel // of each job
	source  *Source
	bits    int
}

// kernel is a compiled kernel and its geometry.
type kernel struct {
	f           *device.Function
	grid, block device.Dim
}

// Compile generates and compiles the kernels of a program for a device, for reals of 32 or 64 bits.
// isolate says whether lanes of a batch fail alone.
func Compile(p *compiler.Program, d *device.Device, bits int, isolate bool) (*Code, error) {
	c := &Code{p: p, d: d, bits: bits, source: Generate(p, bits, isolate)}
	c.plan = planOf(p, c.source.Jobs)
	c.layout = layOut(p, func(int) int { return bits / 8 })
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
			f, err := find(l.Kernel)
			if err != nil {
				return nil, err
			}
			c.kernels[i] = append(c.kernels[i], kernel{f, device.Dim{X: l.Grid}, device.Dim{X: l.Block}})
		}
	}
	return c, nil
}

func (c *Code) launches() (n int) {
	for _, list := range c.source.Jobs {
		n += len(list)
	}
	return n
}

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
