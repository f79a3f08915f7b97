// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package roofline

import (
	"fmt"
	"strings"
)

// Card is a GPU as its maker describes it. Throughputs are those of one multiprocessor in one cycle.
type Card struct {
	Name            string
	Multiprocessors int
	Clock           float64 // Hz, under load
	Float32         float64 // float32 additions, multiplications or both fused
	Float64         float64 // the same in float64, and conversions from and to it
	Integers        float64 // 32-bit integer operations
	Special         float64 // reciprocals, roots, exponentials and logarithms by the special function units
	Memory          float64 // bytes in a second, as its maker says
	L2              float64 // bytes that the L2 cache holds
	L2Bandwidth     float64 // bytes in a second that multiprocessors read from it together
	Shared          int     // bytes of shared memory of a multiprocessor
	Threads, Blocks int     // the most of a multiprocessor
	Registers       int     // of 32 bits, of a multiprocessor
	MemoryLatency   float64 // cycles of a load from memory that waits for nothing else
	L2Latency       float64 // the same from the L2 cache
}

// cards are the cards that the model knows.
//
// Sources: the numbers of units, sizes and bandwidths of memory are those of NVIDIA's white papers on the architectures
// Ampere (2020), Hopper (2022) and Ada (2022) and of the data sheets of H200 and L4; throughputs of instructions and limits of
// multiprocessors those of the tables "Arithmetic Instructions" and "Technical Specifications" of the CUDA C++ Programming Guide.
// Latencies are the microbenchmarks of Luo et al., arXiv:2402.13499, for A100, H100 and the RTX 4090, whose chip is of
// the generation of an L4. The H100's clock is the one that its driver told on 26 November 2026; the others are the data sheets' highest
// ones.
//
// NVIDIA tells the bandwidth of no L2 cache but that of an A100, 5120 bytes in a cycle. The H100's is assumed to be the same in bytes
// for each cycle, and the L4's 2048.
var cards = []Card{
	{Name: "H100", Multiprocessors: 132, Clock: 1.98e9, Float32: 128, Float64: 64, Integers: 64, Special: 16, Memory: 3.35e12, L2: 50 << 20, L2Bandwidth: 5120 * 1.98e9,
		Shared: 228 << 10, Threads: 2048, Blocks: 32, Registers: 1 << 16, MemoryLatency: 479, L2Latency: 263},
	{Name: "H200", Multiprocessors: 132, Clock: 1.98e9, Float32: 128, Float64: 64, Integers: 64, Special: 16, Memory: 4.8e12, L2: 50 << 20, L2Bandwidth: 5120 * 1.98e9,
		Shared: 228 << 10, Threads: 2048, Blocks: 32, Registers: 1 << 16, MemoryLatency: 479, L2Latency: 263},
	{Name: "A100", Multiprocessors: 108, Clock: 1.41e9, Float32: 64, Float64: 32, Integers: 64, Special: 16, Memory: 2.039e12, L2: 40 << 20, L2Bandwidth: 5120 * 1.41e9,
		Shared: 164 << 10, Threads: 2048, Blocks: 32, Registers: 1 << 16, MemoryLatency: 466, L2Latency: 262},
	{Name: "L4", Multiprocessors: 58, Clock: 2.04e9, Float32: 128, Float64: 2, Integers: 64, Special: 16, Memory: 0.3e12, L2: 48 << 20, L2Bandwidth: 2048 * 2.04e9,
		Shared: 100 << 10, Threads: 1536, Blocks: 24, Registers: 1 << 16, MemoryLatency: 542, L2Latency: 273},
}

// Names are the names of the cards that the model knows.
func Names() (list []string) {
	for _, c := range cards {
		list = append(list, c.Name)
	}
	return list
}

// Find returns the card of a name, which may be longer than that of the model, as drivers' names are: "NVIDIA H100 80GB HBM3". Boards of the same name with
// other memory, and parts of a card, are not in the model.
func Find(name string) (Card, error) {
	var found []Card
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == ' ' || r == '-' }) {
		switch strings.ToUpper(word) {
		case "PCIE", "NVL", "MIG", "40GB":
			return Card{}, fmt.Errorf("roofline: the model does not have %q, which has other memory or fewer multiprocessors than the card that it has: use one of %s", name, strings.Join(Names(), ", "))
		}
		for _, c := range cards {
			if strings.EqualFold(word, c.Name) {
				found = append(found, c)
			}
		}
	}
	if len(found) != 1 {
		return Card{}, fmt.Errorf("roofline: there is no card %q in the model: use one of %s", name, strings.Join(Names(), ", "))
	}
	return found[0], nil
}

// Shares that programs reach of what a card could do, and what starting work costs. They are the same for all cards.
const (
	// memoryShare was measured on an H100: a copy of 1 GiB moves 2.96 of 3.35 TB/s.
	memoryShare = 0.884
	// l2Share is an assumption that agrees with the sum of ten million numbers, which lie in the cache.
	l2Share = 0.55
	// issueShare was measured on an H100: cuBLAS multiplies matrices of 2048 rows with 50 of 66.9 TFLOP/s. Clocks fall under such work,
	// and registers are not always read at once.
	issueShare = 0.75
	// l2Resident is the share of the L2 cache that arrays may fill before they push each other out.
	l2Resident = 0.9
	// gap was measured on an H100: a launch within a graph takes so many seconds, with its empty kernel.
	gap = 1.0e-6
	// Run is the least time of a run of a program as the host sees it, in seconds: of the rows of vector additions
	// and of a ReLU in docs/GPU.md, which do no work to speak of.
	Run = 5.3e-6
	// Call is the same of a kernel that the host launches.
	Call = 5.8e-6
)
