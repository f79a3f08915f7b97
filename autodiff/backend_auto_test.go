// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// Auto goes by the memory of a program's arrays, says what it chose, and does without a GPU that is not
// there.
func TestAutoChoosesBySize(t *testing.T) {
	pretend.Shared(t)
	x := ad.Input("x", 1000)
	y := ad.Sum(ad.Square(x))
	compile := func(a ad.Auto) (p *ad.Program, told ad.Choice) {
		a.Chosen = func(c ad.Choice) { told = c }
		p, err := ad.Compile([]*ad.Node{y}, ad.Settings{Inputs: []*ad.Node{x}, Backend: a})
		if err != nil {
			t.Fatal(err)
		}
		return p, told
	}
	p, told := compile(ad.Auto{})
	if p.Device() != "cpu" || told.Device != "cpu" || told.Bytes != p.Bytes() || told.Least != ad.DeviceWorth || told.Err != nil {
		t.Errorf("a small program runs on %s: %+v", p.Device(), told)
	}
	for _, least := range []int{-1, p.Bytes()} {
		if p, told := compile(ad.Auto{Least: least}); p.Device() != "cuda:0" || !strings.Contains(told.String(), "computing on cuda:0") {
			t.Errorf("from %d bytes: %s, %v", least, p.Device(), told)
		}
	}
	none, told := compile(ad.Auto{Least: -1, CUDA: ad.CUDA{Device: 9}})
	if none.Device() != "cpu" || !errors.Is(told.Err, device.ErrNoDevice) || !ad.IsDeviceFault(told.Err) || !strings.Contains(told.String(), "cannot be used") {
		t.Errorf("without that GPU: %s, %v", none.Device(), told)
	}
	for _, p := range []*ad.Program{p, none} {
		s := p.NewState()
		if err := s.SetInput(0, make([]float64, 1000)); err != nil || s.Run() != nil || s.Output(0)[0] != 0 {
			t.Errorf("the sum of squares of zeros is %v: %v", s.Output(0), err)
		}
	}
	if ad.IsDeviceFault(errors.New("singular matrix")) {
		t.Error("an error of the computation counts as one of a device")
	}
}
