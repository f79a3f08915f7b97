// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"

	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// Need is what a computation that is not a graph, such as a simulator, needs of a GPU.
type Need struct {
	// Name says what is computed, such as "a scattering pattern of 32 x 512 x 512 voxels".
	Name  string
	Work  int // bytes of the arrays that a run passes through, which Auto compares with DeviceWorth
	Least int // bytes of device memory without which the computation cannot run
}

// DeviceFor returns the GPU on which b runs a computation that is not a graph, or nil for the
// processor. Auto uses a GPU if the work is worth it and the GPU can be opened and has room, and
// tells Chosen why. CUDA and Several use their (first) GPU; if it cannot be opened or has too
// little room, DeviceFor returns an error, in the latter case a *RoomError of package kernels/cuda.
func DeviceFor(b Backend, n Need) (*device.Device, error) {
	if b == nil {
		return nil, nil
	}
	return b.deviceFor(n)
}

func (c CUDA) deviceFor(n Need) (*device.Device, error) {
	d, err := c.open()
	if err != nil {
		return nil, err
	}
	if err := d.Fits(n.Name, uint64(max(n.Least, 0))); err != nil {
		return nil, err
	}
	return d, nil
}

// open returns the GPU that c names.
func (c CUDA) open() (*device.Device, error) {
	if c.Stream != nil {
		return c.Stream.Device(), nil
	}
	d, err := device.Open(c.Device, device.Settings{})
	if err != nil {
		return nil, fmt.Errorf("autodiff: GPU %d: %w", c.Device, err)
	}
	return d, nil
}

func (a Auto) deviceFor(n Need) (*device.Device, error) {
	c := a.choice(n.Name, n.Work)
	if c.Bytes < c.Least {
		a.tell(c)
		return nil, nil
	}
	d, err := a.CUDA.deviceFor(n)
	switch {
	case err == nil:
		c.Device = d.String()
	case unsuited(err):
		c.Err, d, err = err, nil, nil
	default:
		return nil, err
	}
	a.tell(c)
	return d, nil
}
