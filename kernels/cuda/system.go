// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"os"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// system is a driver and the devices that are open.
type system struct {
	drv  drv.Provider
	err  error // why there is no driver
	mu   sync.Mutex
	open map[int]*Device
}

func newSystem() *system {
	s := &system{open: map[int]*Device{}}
	s.drv, s.err = drv.Find()
	return s
}

// found is the driver of the machine, and the path that the environment named when it was looked for.
var found struct {
	sync.Mutex
	s    *system
	path string
}

// standard returns the driver of the machine. It is looked for once, and if there was none once more when
// the environment names another.
func standard() *system {
	path := os.Getenv(dl.Variable("CUDA"))
	found.Lock()
	defer found.Unlock()
	if found.s == nil || found.s.err != nil && found.path != path {
		found.s, found.path = newSystem(), path
	}
	return found.s
}

// Available returns nil if a GPU can be used. Otherwise the error says what was tried and wraps
// ErrNoDriver, ErrDriverTooOld or ErrNoDevice.
func Available() error { return standard().available() }

func (s *system) available() error {
	if s.err != nil {
		return s.err
	}
	n, err := s.drv.DeviceCount()
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: %s sees none: check CUDA_VISIBLE_DEVICES and nvidia-smi", ErrNoDevice, s.drv.Path())
	}
	return err
}

// Devices returns descriptions of all devices that the driver shows to this process. It opens none
// of them.
func Devices() ([]Info, error) { return standard().devices() }

func (s *system) devices() ([]Info, error) {
	if err := s.available(); err != nil {
		return nil, err
	}
	n, err := s.drv.DeviceCount()
	if err != nil {
		return nil, err
	}
	var all []Info
	for i := range n {
		info, _, err := describe(s.drv, i)
		if err != nil {
			return all, fmt.Errorf("device %d: %w", i, err)
		}
		all = append(all, info)
	}
	return all, nil
}

// Open returns the device with the given ordinal, counted from 0. A device is opened once: a second
// Open returns the same Device and must have the same options. Each Open needs a Close.
func Open(ordinal int, o Settings) (*Device, error) { return standard().device(ordinal, o) }

func (s *system) device(ordinal int, o Settings) (*Device, error) {
	if err := s.available(); err != nil {
		return nil, err
	}
	if n, err := s.drv.DeviceCount(); err != nil || ordinal < 0 || ordinal >= n {
		return nil, fmt.Errorf("%w with number %d: the number of devices is %d, counted from 0", ErrNoDevice, ordinal, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[ordinal]; d != nil {
		if lost := d.lost.Load(); lost != nil {
			return nil, lost
		}
		if d.options != o {
			return nil, fmt.Errorf("cuda: device %d is already open with other options (%+v, and now %+v): close it first, or use the same options", ordinal, d.options, o)
		}
		d.users++
		return d, nil
	}
	d, err := openDevice(s, ordinal, o)
	if err != nil {
		return nil, err
	}
	s.open[ordinal] = d
	return d, nil
}
