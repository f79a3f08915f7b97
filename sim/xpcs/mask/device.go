// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"context"
	_ "embed"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

//go:embed cu/mask.cu
var kernelText string

// sieve decides on a GPU which pixels are kept.
type sieve struct {
	d            *cuda.Device
	m            *cuda.Module
	keep, values *cuda.Buffer
	pixels       int
}

// newSieve keeps all pixels of a source on the GPU that its backend names for so many maps; nil is the processor.
func newSieve(s Source, maps int) (*sieve, error) {
	if s.Backend == nil || maps == 0 {
		return nil, nil
	}
	v := &sieve{pixels: s.Height * s.Width}
	var err error
	if v.d, err = ad.DeviceFor(s.Backend, ad.Need{Name: "a mask", Work: 8 * maps * v.pixels, Least: 9 * v.pixels}); err != nil || v.d == nil {
		return nil, err
	}
	if v.m, err = v.d.Compile(rtc.Source{Name: "mask.cu", Text: kernelText}); err != nil {
		return nil, err
	}
	if v.keep, err = v.d.AllocTagged(v.pixels, "a mask"); err != nil {
		return nil, err
	}
	if v.values, err = v.d.AllocTagged(8*v.pixels, "a map"); err == nil {
		err = v.d.Default().Fill(v.keep, 0, v.pixels, 1)
	}
	if err != nil {
		v.free()
		return nil, err
	}
	return v, nil
}

func (v *sieve) free() {
	v.keep.Free()
	if v.values != nil {
		v.values.Free()
	}
}

// run lets a kernel decide by the values of a map.
func (v *sieve) run(name string, values []float64, args ...any) error {
	if err := v.d.CopyIn(context.Background(), v.values, 0, values); err != nil {
		return err
	}
	return v.m.Launch(v.d.Default(), name, cuda.Blocks(v.pixels, 256), cuda.Dim{X: 256}, append(append([]any{v.values, int64(v.pixels)}, args...), v.keep)...)
}

// mask fetches what is kept.
func (v *sieve) mask(m *Mask) error { return v.d.CopyOut(context.Background(), m.Keep, v.keep, 0) }

func flag(is bool) int32 {
	if is {
		return 1
	}
	return 0
}
