// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/memory"
	"github.com/euryale-dev/euryale/tensor"
)

// MemoryError says that the arrays of a program do not fit into memory.
type MemoryError struct {
	// Need is the number of bytes that the arrays need, and Limit the number that they may take.
	Need, Limit int64
	Largest     tensor.Shape
	By          string // operation or input that makes the largest array
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("autodiff: the arrays of the program take %s, but the limit is %s; the largest, of shape %v, is made by %s: use a smaller problem or batch, Precision 32, or a larger Settings.MaxMemory",
		memory.Text(e.Need), memory.Text(e.Limit), []int(e.Largest), e.By)
}

// filled makes a constant of the shape, unless there is no memory for it.
func filled(op string, s tensor.Shape, f func(data []float64)) *Node {
	if bad := tooLarge(op, s); bad != nil {
		return bad
	}
	data := make([]float64, s.Size())
	f(data)
	return Const(data, s...)
}

// tooLarge returns a Node with the mistake if there is no memory for an array, else nil.
func tooLarge(op string, s tensor.Shape) *Node {
	switch limit := memory.Limit(); {
	case !s.Valid():
		return failed(&tensor.ShapeError{Op: op, Got: []tensor.Shape{s}, Want: countable})
	case int64(s.Size()) > limit/8:
		return failed(&MemoryError{Need: 8 * int64(s.Size()), Limit: limit, Largest: s, By: op})
	}
	return nil
}

// fits compares the memory of a State with the limit.
func (p *Program) fits() error {
	e := &MemoryError{Need: int64(p.Bytes()), Limit: p.settings.MaxMemory}
	if e.Limit <= 0 {
		e.Limit = memory.Limit()
	}
	if e.Need <= e.Limit {
		return nil
	}
	if v := p.code.Largest(); v != nil {
		e.Largest, e.By = v.Shape, "a constant"
		switch {
		case v.Op != nil:
			e.By = v.Op.Name
		case v.Data == nil && v.Ints == nil:
			e.By = "input " + v.Name
		}
	}
	return e
}
