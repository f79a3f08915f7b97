// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Profile counts the operations of a brain's steps, their time and their memory traffic.
type Profile struct {
	Peak  int // largest number of bytes held by synapses and counts
	table [opCount]Usage
}

// Usage is the work of one operation.
type Usage struct {
	Operation string
	Calls     int
	Time      time.Duration
	Bytes     int // lower bound on the bytes of synapses and inputs that were moved
}

// operation is a part of a step, one method of equations.
type operation int

const (
	opGather operation = iota
	opInhibit
	opChoose
	opRecruit
	opLearn
	opCount
)

var opNames = [opCount]string{"gather", "inhibit", "choose", "recruit", "learn"}

// Profile makes the brain count from now on, and returns the counts, which keep growing.
func (b *Brain) Profile() *Profile {
	if b.prof == nil {
		b.prof = &Profile{}
	}
	return b.prof
}

// equations returns the implementation of the parts of a step.
func (b *Brain) equations() equations {
	if b.prof != nil {
		return measured{b}
	}
	return b
}

// measured is a brain whose profile counts the parts of its steps.
type measured struct{ *Brain }

func (m measured) gather(t *target)  { m.count(opGather, func() { m.Brain.gather(t) }) }
func (m measured) inhibit(t *target) { m.count(opInhibit, func() { m.Brain.inhibit(t) }) }
func (m measured) choose(t *target)  { m.count(opChoose, func() { m.Brain.choose(t) }) }
func (m measured) recruit(p *Plan)   { m.count(opRecruit, func() { m.Brain.recruit(p) }) }
func (m measured) learn(t *target)   { m.count(opLearn, func() { m.Brain.learn(t) }) }

func (m measured) fire(p *Plan) {
	m.Brain.fire(p)
	m.prof.Peak = max(m.prof.Peak, m.Bytes())
}

// count does a part of a step and adds its cost to the profile.
func (m measured) count(op operation, do func()) {
	start, before := time.Now(), m.moved
	do()
	u := &m.prof.table[op]
	u.Time += time.Since(start)
	u.Bytes += m.moved - before
	u.Calls++
}

// Usage returns the operations in order of falling time.
func (p *Profile) Usage() []Usage {
	var list []Usage
	for op, u := range p.table {
		if u.Calls > 0 {
			u.Operation = opNames[op]
			list = append(list, u)
		}
	}
	slices.SortStableFunc(list, func(a, b Usage) int { return cmp.Compare(b.Time, a.Time) })
	return list
}

// String formats a table with a line for each operation (calls, time and its share, bytes moved and
// their rate) and the peak of memory.
func (p *Profile) String() string {
	var total time.Duration
	for _, u := range p.Usage() {
		total += u.Time
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%-10s %8s %12s %6s %10s %8s\n", "operation", "calls", "time", "share", "MB", "GB/s")
	for _, u := range p.Usage() {
		fmt.Fprintf(&s, "%-10s %8d %12s %5.1f %% %9.2f %8.2f\n", u.Operation, u.Calls, u.Time.Round(time.Microsecond),
			100*float64(u.Time)/float64(max(total, 1)), float64(u.Bytes)/1e6, float64(u.Bytes)/1e9/max(u.Time.Seconds(), 1e-9))
	}
	fmt.Fprintf(&s, "peak of synapses and counts: %.2f MB\n", float64(p.Peak)/1e6)
	return s.String()
}

// Bytes returns the memory that synapses, inputs and counts take, in bytes.
func (b *Brain) Bytes() int {
	sum := 8*cap(b.x) + cap(b.isWinner) + 4*cap(b.marked.at)
	for _, a := range b.areas {
		sum += cap(a.fired) + 4*cap(a.winners) + 4*cap(a.times) + a.memory.bytes()
	}
	for _, f := range b.fibres {
		sum += f.bytes()
	}
	return sum
}

func (f *fibre) bytes() int {
	sum := 8*cap(f.total) + 4*cap(f.inputs) + 8*cap(f.scale) + f.past.bytes()
	if f.rows != nil {
		sum += f.rows.bytes()
	}
	if f.synapses != nil {
		sum += 4 * cap(f.synapses.counts)
		for _, r := range f.synapses.rows {
			sum += 4*cap(r.to) + 8*cap(r.weight) + 120
			if r.links != nil {
				sum += r.links.bytes()
			}
		}
	}
	return sum
}
