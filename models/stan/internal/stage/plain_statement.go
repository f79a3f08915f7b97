// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"slices"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// list runs statements one after the other.
func (c *plainCompiler) list(list []syntax.Stmt) act {
	acts := make([]act, len(list))
	for i, s := range list {
		acts[i] = c.statement(s)
	}
	return func(f *frame) way {
		f.shared.count(len(acts))
		for _, a := range acts {
			if w := a(f); w != on {
				return w
			}
		}
		return on
	}
}

func (c *plainCompiler) scoped(s syntax.Stmt) act {
	c.push()
	defer c.pop()
	if b, ok := s.(*syntax.Block); ok {
		return c.list(b.List)
	}
	return c.statement(s)
}

func (c *plainCompiler) statement(s syntax.Stmt) act {
	switch s := s.(type) {
	case *syntax.Declare:
		return c.declare(s)
	case *syntax.Assign:
		return c.assign(s)
	case *syntax.Block:
		return c.scoped(s)
	case *syntax.Profile:
		return c.scoped(s.Body)
	case *syntax.If:
		cond, then := c.number(s.Cond), c.scoped(s.Then)
		otherwise := func(*frame) way { return on }
		if s.Else != nil {
			otherwise = c.scoped(s.Else)
		}
		return func(f *frame) way {
			if cond(f) != 0 {
				return then(f)
			}
			return otherwise(f)
		}
	case *syntax.For:
		return c.loop(s)
	case *syntax.While:
		cond, body := c.number(s.Cond), c.scoped(s.Body)
		return func(f *frame) way {
			for cond(f) != 0 {
				f.shared.count(1)
				if w := body(f); w == broke {
					break
				} else if w == returned {
					return w
				}
			}
			return on
		}
	case *syntax.Jump:
		w := continued
		if s.Word == "break" {
			w = broke
		}
		return func(*frame) way { return w }
	case *syntax.Return:
		return c.ret(s)
	case *syntax.Tell:
		if s.Word != "print" {
			return func(*frame) way { fail(); return on }
		}
	}
	c.stop()
	return nil
}

func (c *plainCompiler) loop(s *syntax.For) act {
	lo, hi := c.number(s.Lo), c.number(s.Hi)
	c.push()
	at := c.add(s.Name, typing.Of(typing.Int)).at
	body := c.scoped(s.Body)
	c.pop()
	return func(f *frame) way {
		for i, last := lo(f), hi(f); i <= last; i++ {
			f.shared.count(1)
			f.numbers[at] = i
			if w := body(f); w == broke {
				break
			} else if w == returned {
				return w
			}
		}
		return on
	}
}

func (c *plainCompiler) ret(s *syntax.Return) act {
	if s.X == nil || !c.inside {
		c.stop()
	}
	if single(s.X.Type()) {
		x := c.number(s.X)
		return func(f *frame) way { f.result = block{f: []float64{x(f)}}; return returned }
	}
	x := c.block(s.X)
	return func(f *frame) way { f.result = x(f); return returned }
}

// declare makes a variable: unset, or with its value.
func (c *plainCompiler) declare(s *syntax.Declare) act {
	t := s.Unsized
	if s.Init != nil && single(t) {
		x := c.number(s.Init)
		at := c.add(s.Name, t).at
		return func(f *frame) way { f.numbers[at] = x(f); return on }
	}
	unset := value.UnsetReal
	if t.Kind == typing.Int {
		unset = value.UnsetInt
	}
	if single(t) {
		at := c.add(s.Name, t).at
		return func(f *frame) way { f.numbers[at] = unset; return on }
	}
	var sizes []number
	own := s.Type.Sizes
	if s.Type.Kind == typing.Matrix && len(own) == 1 {
		own = append(own[:1:1], own[0])
	}
	for _, x := range append(slices.Clone(s.Type.Dims), own...) {
		sizes = append(sizes, c.number(x))
	}
	var init blocky
	if s.Init != nil {
		init = c.block(s.Init)
	}
	at := c.add(s.Name, t).at
	return func(f *frame) way {
		shape, n := make([]int, len(sizes)), 1
		for i, size := range sizes {
			shape[i] = int(size(f))
			if shape[i] < 0 || n > mostElements/max(1, shape[i]) {
				fail()
			}
			n *= shape[i]
		}
		if init != nil {
			b := init(f)
			if !slices.Equal(b.shape, shape) {
				fail()
			}
			f.blocks[at] = block{slices.Clone(b.f), shape}
			return on
		}
		b := block{make([]float64, n), shape}
		for i := range b.f {
			b.f[i] = unset
		}
		f.blocks[at] = b
		return on
	}
}

// assign stores a number, an element or a part of a container, or a whole one.
func (c *plainCompiler) assign(s *syntax.Assign) act {
	var name *syntax.Name
	var index []number
	switch to := s.To.(type) {
	case *syntax.Name:
		name = to
	case *syntax.Index:
		n, ok := to.X.(*syntax.Name)
		if !ok {
			c.stop()
		}
		name, index = n, c.places(to.List)
	default:
		c.stop()
	}
	t := s.To.Type()
	v := c.find(name.Name, name.Type())
	if single(t) {
		from := c.number(s.From)
		op := scalarOperator(s.Op, t, s.From.Type())
		if s.Op != "" && op == nil {
			c.stop()
		}
		if v.scalar {
			if op == nil {
				return func(f *frame) way { f.numbers[v.at] = from(f); return on }
			}
			return func(f *frame) way { f.numbers[v.at] = op(f.numbers[v.at], from(f)); return on }
		}
		return func(f *frame) way {
			x := from(f)
			b := f.blocks[v.at]
			at := b.place(f, index)
			if op != nil {
				x = op(b.f[at], x)
			}
			b.f[at] = x
			return on
		}
	}
	if s.Op != "" {
		c.stop()
	}
	from := c.block(s.From)
	return func(f *frame) way {
		x, b := from(f), f.blocks[v.at].part(f, index)
		if !slices.Equal(x.shape, b.shape) {
			fail()
		}
		copy(b.f, x.f)
		f.shared.count(len(x.f))
		return on
	}
}
