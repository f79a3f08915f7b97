// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math/bits"
	"slices"
)

// A new neuron is asked for its inputs in 64 earlier rounds at once. These inputs are binary numbers across words: word l holds the
// bits of value 2^l, bit r belonging to round r, so that a few operations add a synapse to all of them.

// needed is the least input that may have won each of 64 defeats, a word for each bit of these inputs.
type needed [32]uint64

func (n *needed) set(defeat int, input int32) {
	for l := range n {
		n[l] = n[l]&^(1<<defeat) | uint64(input)>>l&1<<defeat
	}
}

// inputs are the inputs of a new neuron in the rounds that it must have lost.
type inputs struct {
	*memory
	b      *Brain
	sum    []uint64 // (64 defeats, bit of the inputs)
	levels int      // bits that hold all inputs that are needed; a sum that has more has won
	rank   float64
}

// inputs returns inputs of 0; they are valid until the next call.
func (b *Brain) inputs(m *memory, rank float64) inputs {
	levels := max(2, bits.Len32(uint32(m.most)))
	b.tally = slices.Grow(b.tally[:0], levels*len(m.need))
	in := inputs{m, b, b.tally[:levels*len(m.need)], levels, rank}
	clear(in.sum)
	return in
}

// of returns the inputs in 64 defeats.
func (in inputs) of(block int) []uint64 { return in.sum[block*in.levels:][:in.levels] }

// addAll adds a synapse from each of some sources, of which fired, (64 defeats, source), tells in which defeats they fired, and
// reports whether the neuron would have won one of these.
func (in inputs) addAll(fired [][]uint64, sources []int32) (won bool) {
	for block, masks := range fired {
		if addMasks(in.of(block), masks, sources) != 0 || in.won(block) {
			return true
		}
	}
	return false
}

// addTimes is addAll for n synapses from a stimulus.
func (in inputs) addTimes(fired []uint64, n int) (won bool) {
	for block, mask := range fired {
		sum := in.of(block)
		if mask != 0 && n>>in.levels != 0 {
			return true
		}
		over := uint64(0)
		for l := range sum {
			over |= addBits(sum[l:], mask&-uint64(n>>l&1))
		}
		if over != 0 || in.won(block) {
			return true
		}
	}
	return false
}

// addMasks adds to 64 numbers, of which sum has two bits or more, the number of sources whose masks have their bit, and returns
// those that become too large. Masks beyond the end are 0.
func addMasks(sum, masks []uint64, sources []int32) (over uint64) {
	ones, twos := sum[0], sum[1]
	for ; len(sources) >= 4; sources = sources[4:] {
		var a, b, c uint64
		ones, a = fullAdd(ones, maskOf(masks, sources[0]), maskOf(masks, sources[1]))
		ones, b = fullAdd(ones, maskOf(masks, sources[2]), maskOf(masks, sources[3]))
		twos, c = fullAdd(twos, a, b)
		over |= addBits(sum[2:], c)
	}
	for _, s := range sources {
		m := maskOf(masks, s)
		m, ones = ones&m, ones^m
		m, twos = twos&m, twos^m
		over |= addBits(sum[2:], m)
	}
	sum[0], sum[1] = ones, twos
	return over
}

func maskOf(masks []uint64, source int32) uint64 {
	if int(source) < len(masks) {
		return masks[source]
	}
	return 0
}

// fullAdd adds three bits in each of 64 places.
func fullAdd(a, b, c uint64) (sum, carry uint64) {
	s := a ^ b
	return s ^ c, a&b | s&c
}

// addBits adds 1 to the numbers whose bit is set, and returns those that become too large.
func addBits(sum []uint64, carry uint64) uint64 {
	for l, s := range sum {
		sum[l], carry = s^carry, s&carry
	}
	return carry
}

// won reports whether the neuron would have won one of 64 defeats.
func (in inputs) won(block int) bool {
	sum, need := in.of(block), in.need[block][:in.levels]
	reached := ^uint64(0) >> max(0, 64*(block+1)-len(in.defeats))
	for l, s := range sum {
		reached = s&^need[l] | reached&^(s^need[l])
	}
	for ; reached != 0; reached &= reached - 1 {
		r := bits.TrailingZeros64(reached)
		if in.defeats[64*block+r].beaten(float64(number(sum, r)), in.rank) {
			return true
		}
	}
	return false
}

// number returns one of 64 numbers of which words have the bits.
func number(words []uint64, r int) (n int) {
	for l, w := range words {
		n |= int(w>>r&1) << l
	}
	return n
}

// winsAtZero reports whether the neuron would have won a round without any input.
func (in inputs) winsAtZero() bool {
	return slices.ContainsFunc(in.low, func(d int32) bool { return in.defeats[d].beaten(0, in.rank) })
}
