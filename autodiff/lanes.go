package autodiff

import (
	"errors"
	"math"
)

// lanesOf is the operation that lanesOp repeats along the first axis.
type lanesOf struct {
	op   *primitive
	attr []int
	obj  any
}

// eachLane runs an operation once for each index of the first axis.
func (c *call) eachLane() error {
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

// lane runs one lane; where its numbers have no result, see Settings.Isolate.
func (c *call) lane(l *call) error {
	err := l.run(l)
	var fault interface{ AtPoint() bool }
	if err == nil || !errors.As(err, &fault) || !fault.AtPoint() {
		return err
	}
	for i := range l.out32 {
		l.out32[i] = float32(math.NaN())
	}
	return c.none(l.out64, err)
}

// split makes one call for each index of the first axis.
func (c *call) split() []*call {
	f := c.obj.(*lanesOf)
	out := make([]*call, c.shape[0])
	for i := range out {
		l := &call{op: f.op, run: steps[f.op], attr: f.attr, obj: f.obj, shape: c.shape[1:], level: c.level, ws: c.ws, ints: make([][]int64, len(c.inShape))}
		for k, s := range c.inShape {
			n := s[1:].Size()
			l.inShape = append(l.inShape, s[1:])
			if c.in64 != nil {
				l.in64 = append(l.in64, c.in64[k][i*n:(i+1)*n])
			} else {
				l.in32 = append(l.in32, c.in32[k][i*n:(i+1)*n])
			}
		}
		if n := l.shape.Size(); c.in64 != nil {
			l.out64 = c.out64[i*n : (i+1)*n]
		} else {
			l.out32 = c.out32[i*n : (i+1)*n]
		}
		out[i] = l
	}
	return out
}
