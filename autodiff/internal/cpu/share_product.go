// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"sync/atomic"

	"github.com/euryale-dev/euryale/kernels"
)

// shareFrom is the number of multiplications from which a product is worth
// sharing between goroutines.
const shareFrom = 1 << 21

// productShare lets several goroutines compute parts of one matrix product. A part has the same bits
// as in the whole product, so it does not matter which goroutine computes it.
type productShare struct {
	p           product
	level       kernels.Level
	rows, parts int // rows of a part, and number of parts
	next        atomic.Int64
	crew        crew
	ws          []kernels.Workspace // of each goroutine
}

// partsEach is the number of parts per goroutine, so that a slow one does not hold up the rest.
const partsEach = 2

// shareProduct computes p with c.Threads goroutines: it distributes columns if there are as many of
// them as rows, rows otherwise.
func (c *Call) shareProduct(p product) {
	if c.share == nil {
		c.share = &productShare{level: c.Level, ws: make([]kernels.Workspace, c.Threads)}
		c.share.crew.take = c.share.take
	}
	s := c.share
	s.p = p
	length, unit := p.m, kernels.GemmRows
	if p.n >= p.m {
		length, unit = p.n, kernels.GemmColumns
	}
	each := (length + partsEach*c.Threads - 1) / (partsEach * c.Threads)
	s.rows = (each + unit - 1) / unit * unit
	s.parts = (length + s.rows - 1) / s.rows
	s.next.Store(0)
	s.crew.run(min(c.Threads, s.parts))
}

func (s *productShare) take(hand int) {
	for {
		k := int(s.next.Add(1)) - 1
		if k >= s.parts {
			return
		}
		lo := k * s.rows
		if s.p.n >= s.p.m {
			s.p.part(s.level, &s.ws[hand], 0, s.p.m, lo, min(s.p.n, lo+s.rows))
		} else {
			s.p.part(s.level, &s.ws[hand], lo, min(s.p.m, lo+s.rows), 0, s.p.n)
		}
	}
}
