// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package roofline

// Launch is a kernel with its geometry and its work.
type Launch struct {
	Kernel      string
	Grid, Block int // blocks, and threads of each
	Resident    int // blocks that the compiler saves registers for on each multiprocessor; 0 if it was not asked to
	Registers   int // of a thread; 0 if they are not known, which counts as 32
	Shared      int // bytes of shared memory of a block
	Times       int // launches in a row; 0 counts as 1
	Work        Work
}

// Work is what all threads of a launch do together.
type Work struct {
	Arrays  []Array
	Sectors float64 // of 32 bytes, that warps ask for or write, each warp and instruction for itself

	// Instructions of threads.
	Float32, Float64, Integers, Special float64
	Accesses                            float64 // loads and stores, of shared memory too
	Conflicts                           float64 // turns of a warp's access beyond the first: for other banks of shared memory, or other lines of memory

	// What a thread does one after another, each waiting for the one before, while its block has nothing else to do.
	Trips  float64 // loads from memory
	Serial float64 // cycles of barriers, shuffles and arithmetic

	// Unknown says what of the work is not counted; empty if all is.
	Unknown string
}

// Array is one that a launch reads or writes.
type Array struct {
	ID    int     // the same for launches that use the same array
	Bytes float64 // that the launch needs of it, each once
	Write bool
}

// Bytes returns the bytes that must move at least: those of each array once.
func (w *Work) Bytes() (sum float64) {
	for _, a := range w.Arrays {
		sum += a.Bytes
	}
	return sum
}

// Add adds the work of other to w, one after the other.
func (w *Work) Add(other Work) {
	for _, a := range other.Arrays {
		w.Use(a.ID, a.Bytes, a.Write)
	}
	w.Sectors += other.Sectors
	w.Float32 += other.Float32
	w.Float64 += other.Float64
	w.Integers += other.Integers
	w.Special += other.Special
	w.Accesses += other.Accesses
	w.Conflicts += other.Conflicts
	w.Trips += other.Trips
	w.Serial += other.Serial
	if w.Unknown == "" {
		w.Unknown = other.Unknown
	}
}

// Times returns the instructions and sectors of w n times, with the same arrays and the same waiting.
func (w Work) Times(n float64) Work {
	for _, p := range []*float64{&w.Sectors, &w.Float32, &w.Float64, &w.Integers, &w.Special, &w.Accesses, &w.Conflicts} {
		*p *= n
	}
	return w
}

// Use notes an array; one that is used twice, as by two operands, is one.
func (w *Work) Use(id int, bytes float64, write bool) {
	for i := range w.Arrays {
		if a := &w.Arrays[i]; a.ID == id && a.Write == write {
			a.Bytes = max(a.Bytes, bytes)
			return
		}
	}
	w.Arrays = append(w.Arrays, Array{id, bytes, write})
}

// Pattern returns the sectors of 32 bytes, and the lines of 128 bytes, that a warp asks for at once, whose threads access so many bytes at places.
func Pattern(places []int, bytes int) (sectors, lines int) {
	const sector, line = 32, 128
	inSectors, inLines := map[int]bool{}, map[int]bool{}
	for _, p := range places {
		for at := p / sector; at <= (p+bytes-1)/sector; at++ {
			inSectors[at] = true
		}
		for at := p / line; at <= (p+bytes-1)/line; at++ {
			inLines[at] = true
		}
	}
	return len(inSectors), len(inLines)
}

// Banks returns the turns in which shared memory serves a warp whose threads access so many bytes, 4, 8 or 16, at places: 128 bytes at once, of
// which no two lie in the same of 32 banks.
func Banks(places []int, bytes int) (turns int) {
	together := 128 / bytes
	for first := 0; first < len(places); first += together {
		words := map[int]map[int]bool{}
		most := 0
		for _, p := range places[first:min(first+together, len(places))] {
			bank := p / bytes % together
			if words[bank] == nil {
				words[bank] = map[int]bool{}
			}
			words[bank][p/bytes] = true
			most = max(most, len(words[bank]))
		}
		turns += most
	}
	return turns
}
