// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Settings are the numbers of bins along the two axes. The zero value is the default.
type Settings struct {
	Dynamic [2]int // numbers of dynamic bins along the axes; 0 stands for 36 and 1
	// Static holds the numbers of static bins. They are rounded up to multiples of Dynamic, so that
	// static bins subdivide dynamic ones; 0 stands for 360 and 1.
	Static [2]int
	// Backend chooses where the pixels are divided; bins do not depend on it. Default: the CPU
	Backend ad.Backend
}

// complete fills in the defaults.
func (s Settings) complete() Settings {
	if s.Dynamic[0] == 0 {
		s.Dynamic[0] = 36
	}
	if s.Static[0] == 0 {
		s.Static[0] = 360
	}
	s.Dynamic[1], s.Static[1] = cmp.Or(s.Dynamic[1], 1), cmp.Or(s.Static[1], 1)
	return s
}

// Partition holds the dynamic and static bins that correlators and result files use.
type Partition struct {
	Names, Units    [2]string
	Mask            []bool
	Dynamic, Static *Cells
}

// LeastMultiple returns the smallest multiple of a that is at least b, and a if b is less.
func LeastMultiple(a, b int) int { return max((b+a-1)/a, 1) * a }

// mostCells bounds the grid of bins along two axes.
const mostCells = 1 << 26

// New divides the pixels along two axes into dynamic and static bins. Pixels that have NaN in an axis are masked.
func New(first, second Axis, mask []bool, s Settings) (*Partition, error) {
	axes := [2]Axis{first, second}
	p := &Partition{Mask: slices.Clone(mask)}
	s = s.complete()
	for i, a := range axes {
		p.Names[i], p.Units[i] = a.Name, a.Unit
		if s.Dynamic[i] < 1 || s.Static[i] < 1 {
			return nil, fmt.Errorf("partition: there are %d dynamic and %d static bins of %s: want at least 1 of each", s.Dynamic[i], s.Static[i], a.Name)
		}
		s.Static[i] = LeastMultiple(s.Dynamic[i], s.Static[i])
		if len(a.Values) != len(mask) {
			return nil, a.check(mask, 1)
		}
		for k, v := range a.Values {
			p.Mask[k] = p.Mask[k] && v == v
		}
	}
	for _, n := range [][2]int{s.Dynamic, s.Static} {
		if n[0] > mostCells/n[1] {
			return nil, fmt.Errorf("partition: there are %d x %d bins: want at most 2^26 together", n[0], n[1])
		}
	}
	if s.Backend != nil {
		if done, err := newOnDevice(context.Background(), p, axes, s); err != nil {
			return nil, err
		} else if done {
			return p, nil
		}
	}
	cells := func(n [2]int) (*Cells, error) {
		a, err := Divide(first, p.Mask, n[0])
		if err != nil {
			return nil, err
		}
		b, err := Divide(second, p.Mask, n[1])
		if err != nil {
			return nil, err
		}
		return Combine(a, b), nil
	}
	var err error
	if p.Dynamic, err = cells(s.Dynamic); err != nil {
		return nil, err
	}
	if p.Static, err = cells(s.Static); err != nil {
		return nil, err
	}
	return p, nil
}

// Check returns an error unless mask, dynamic and static bins have the same pixels, and every static bin lies in
// one dynamic bin.
func Check(mask []bool, dynamic, static []int32) error {
	if len(dynamic) != len(mask) || len(static) != len(mask) {
		return fmt.Errorf("partition: the mask has %d pixels, the dynamic map %d and the static one %d: use maps of one detector", len(mask), len(dynamic), len(static))
	}
	owner := map[int32]int32{}
	for i, keep := range mask {
		d, s := dynamic[i], static[i]
		if (d > 0) != keep || (s > 0) != keep {
			return fmt.Errorf("partition: pixel %d is in dynamic bin %d and static bin %d, but the mask says %v: make both maps with this mask", i, d, s, keep)
		}
		if o, ok := owner[s]; ok && o != d {
			return fmt.Errorf("partition: static bin %d has pixels of dynamic bins %d and %d (pixel %d): take multiples of the dynamic numbers for the static ones", s, o, d, i)
		}
		owner[s] = d
	}
	return nil
}

// Check calls the function Check for p.
func (p *Partition) Check() error { return Check(p.Mask, p.Dynamic.Of, p.Static.Of) }
