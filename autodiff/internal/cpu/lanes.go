// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"errors"
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Lanes is the operation that lanesOp repeats along the first axis.
type Lanes struct {
	Op   *compiler.Op
	Attr []int
	Obj  any
}

// EachLane runs an operation once for each index of the first axis.
func (c *Call) EachLane() error {
	if c.lanes == nil {
		c.lanes = c.split()
	}
	for _, l := range c.lanes {
		if err := c.lane(l); err != nil {
			return err
		}
	}
	return nil
}

// lane runs one lane; if its numbers have no result, Settings.Isolate says what happens.
func (c *Call) lane(l *Call) error {
	err := l.run(l)
	var fault interface{ AtPoint() bool }
	if err == nil || !errors.As(err, &fault) || !fault.AtPoint() {
		return err
	}
	for i := range l.Out32 {
		l.Out32[i] = float32(math.NaN())
	}
	return c.NoResult(l.Out64, err)
}

// split makes one Call for each index of the first axis.
func (c *Call) split() []*Call {
	f := c.Obj.(*Lanes)
	out := make([]*Call, c.Shape[0])
	for i := range out {
		l := &Call{Op: f.Op, run: Steps[f.Op], Attr: f.Attr, Obj: f.Obj, Shape: c.Shape[1:], Level: c.Level, ws: c.ws, Ints: make([][]int64, len(c.InShape))}
		for k, s := range c.InShape {
			n := s[1:].Size()
			l.InShape = append(l.InShape, s[1:])
			if c.In64 != nil {
				l.In64 = append(l.In64, c.In64[k][i*n:(i+1)*n])
			} else {
				l.In32 = append(l.In32, c.In32[k][i*n:(i+1)*n])
			}
		}
		if n := l.Shape.Size(); c.In64 != nil {
			l.Out64 = c.Out64[i*n : (i+1)*n]
		} else {
			l.Out32 = c.Out32[i*n : (i+1)*n]
		}
		out[i] = l
	}
	return out
}
