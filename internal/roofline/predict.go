// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package roofline

import "math"

// Estimate is the time that the model expects of a launch, and what bounds it.
type Estimate struct {
	Seconds   float64
	Bound     string // the resource that takes longest
	Occupancy int    // blocks that a multiprocessor holds at once
	// Seconds that each resource needs for itself.
	Memory, L2, Units, Waiting float64
}

// resident returns how many blocks of a launch a multiprocessor holds at once. Sizes that no card has count as the nearest ones that it has.
func (c Card) resident(l Launch) int {
	warps := (min(max(1, l.Block), 1024) + 31) / 32
	n := min(c.Blocks, c.Threads/(32*warps))
	registers := l.Registers
	if registers <= 0 {
		registers = 32
		if l.Resident > 0 {
			registers = c.Registers / (min(l.Resident, c.Blocks) * 32 * warps)
		}
	}
	n = min(n, c.Registers/(warps*32*((min(max(1, registers), 255)+7)/8*8)))
	if l.Shared > 0 {
		n = min(n, c.Shared/(min(l.Shared, c.Shared)+1024)) // the system takes 1 KiB of each block
	}
	return max(1, n)
}

// Predict returns the time of a launch. cached says that its arrays lie in the L2 cache.
//
// A multiprocessor holds some blocks at once. Together they take the cycles of the busiest of its units, and a block takes at
// least what it would take alone, with the waiting of its threads for memory and for each other. Beside that the L2 cache has to deliver the
// sectors that warps ask for, and memory the bytes of all arrays once, after the time of a first load.
func (c Card) Predict(l Launch, cached bool) Estimate {
	w := l.Work
	grid := float64(max(1, l.Grid))
	e := Estimate{Occupancy: c.resident(l)}
	cycles, unit := c.units(w)
	latency := c.MemoryLatency
	if cached {
		latency = c.L2Latency
	}
	// The multiprocessor with the most blocks, and the rounds in which it holds them.
	most := math.Ceil(grid / float64(c.Multiprocessors))
	rounds := math.Max(1, most/float64(e.Occupancy))
	of := cycles / grid // of a block, alone on a multiprocessor
	waiting := latency + w.Trips*latency + w.Serial
	e.Units = most * of / c.Clock
	e.Waiting = rounds * (of + waiting) / c.Clock
	e.L2 = 32 * w.Sectors / (c.L2Bandwidth * l2Share)
	if !cached {
		e.Memory = w.Bytes()/(c.Memory*memoryShare) + 2*latency/c.Clock
	}
	e.Seconds, e.Bound = e.Units, unit
	for _, x := range []struct {
		seconds float64
		name    string
	}{{e.Waiting, "latency"}, {e.L2, "L2 cache"}, {e.Memory, "memory"}} {
		if x.seconds > e.Seconds {
			e.Seconds, e.Bound = x.seconds, x.name
		}
	}
	e.Seconds += gap
	if gap > e.Seconds/2 {
		e.Bound = "launch"
	}
	times := float64(max(1, l.Times))
	for _, p := range []*float64{&e.Seconds, &e.Memory, &e.L2, &e.Units, &e.Waiting} {
		*p *= times
	}
	return e
}

// units returns the cycles in which one multiprocessor would do all work, and the unit that takes as long.
func (c Card) units(w Work) (cycles float64, unit string) {
	all := w.Float32 + w.Float64 + w.Integers + w.Special + w.Accesses
	for _, u := range []struct {
		cycles float64
		name   string
	}{
		{all / 128, "instructions"}, // four schedulers, a warp each in a cycle
		{w.Float32 / c.Float32, "float32 units"},
		{w.Float64 / c.Float64, "float64 units"},
		{w.Integers / c.Integers, "integer units"},
		{w.Special / c.Special, "special function units"},
		{w.Accesses/32 + w.Conflicts, "loads and stores"},
	} {
		if u.cycles > cycles {
			cycles, unit = u.cycles, u.name
		}
	}
	return cycles / issueShare, unit
}

// Cached reports whether the arrays of launches that run again and again stay in the L2 cache.
func (c Card) Cached(list []Launch) bool {
	bytes := map[int]float64{}
	for _, l := range list {
		for _, a := range l.Work.Arrays {
			bytes[a.ID] = max(bytes[a.ID], a.Bytes)
		}
	}
	sum := 0.0
	for _, b := range bytes {
		sum += b
	}
	return sum <= l2Resident*c.L2
}

// Program returns the time of a run of launches, one after another, again and again: that of the device or of the host, host seconds, who
// works ahead, whichever is longer. The estimates are those of the launches.
func (c Card) Program(list []Launch, host float64) (seconds float64, each []Estimate) {
	cached := c.Cached(list)
	for _, l := range list {
		e := c.Predict(l, cached)
		each = append(each, e)
		seconds += e.Seconds
	}
	return max(seconds, host), each
}
