// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/roofline"
)

// Few long lines are summed in a single pass: blocks take tiles in the order of a ticket, publish the sum of each tile as soon as they know it, and
// look back over the tiles before theirs for the nearest whose running sum is known. A tile whose ticket has been taken has a block that works on it, so that
// nobody waits for a block that has not begun.
//
// The running sum before a tile is always ((0 + sum of tile 0) + sum of tile 1) + ..., whichever of these sums a block finds done and whichever it
// adds itself, so that every run gives the same bits.
//
// Reference for looking back: Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, NVR-2016-002.

// looks reports whether a scan is made so: one whose state is a sum, which cannot leave the range of numbers.
func (c scan) looks(s *Step) bool { return c.name == "sum" && s.g.choice("single_pass") == 1 }

// lookBack makes the kernels: one that takes back tickets and states, and the scan.
func (c scan) lookBack(s *Step, lines, n int, at string, step int) {
	tiles := (n + scanTile - 1) / scanTile
	jobs := lines * tiles
	// For each tile its sum, the running sum up to its end, and a state: 0 nothing is known, 1 the sum is, 2 both are. The ticket follows.
	s.g.partials = max(s.g.partials, 2*jobs+jobs/2+1)
	state := fmt.Sprintf("int *state = (int *)(partial + %s);\n", number(2*jobs))
	reset := Launch{Kernel: s.g.name("scan"), Grid: gridOf(jobs+1, 1, mostGrid), Block: block}
	if s.g.options.Count {
		reset.Work.Use(scratchArray, float64(4*jobs+4), true)
		reset.Work.Sectors, reset.Work.Accesses, reset.Work.Trips = float64(jobs)/8, float64(jobs), 1
	}
	s.Begin(reset)
	s.Printf("\t%s\t%s state[i] = 0;\n}\n\n", state, stride("int", "i", block, jobs+1))

	s.Shared("scan ticket", "__shared__ int scan_job;\n__shared__ double scan_before;\n")
	s.Begin(Launch{Kernel: s.g.name("scan"), Grid: min(jobs, 132*c.resident()), Block: block, Resident: c.resident(), Work: c.lookWork(s, lines, n),
		Shared: 2*(scanTile+scanTile/8)*s.g.precision/8 + 16*(block/warp+1)})
	s.Printf("%s", strings.NewReplacer("STATE", state, "JOBS", number(jobs), "TILES", number(tiles), "FIRST", at, "LONG", number(n), "STEP", number(step), "TILE", number(scanTile), "BLOCK", number(block),
		"TEAMS", c.teams(), "BEFORE", c.beforeMe(), "NAME", c.name, "RESULT", pick(c.exclusive, "before", "own")).Replace(`	STATE	const pair_t none = {0.0, 0.0};
	int lane = threadIdx.x % 32, team = threadIdx.x / 32;
	for (;;) {
	if (threadIdx.x == 0) scan_job = atomicAdd(&state[JOBS], 1);
	__syncthreads();
	const int job = scan_job, tile = job % TILES;
	if (job >= JOBS) break;
	const index_t i = job / TILES, first = FIRST, from = tile * (index_t)TILE;
	const int count = LONG - from < TILE ? (int)(LONG - from) : TILE;
	R x[8];
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = q * BLOCK + threadIdx.x;
		if (e < count) x[q] = in0[first + (from + e) * STEP];
	}
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = q * BLOCK + threadIdx.x;
		if (e < count) scan_x[e + e / 8] = x[q];
	}
	__syncthreads();
	pair_t mine = none;
	bool safe = true;
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = threadIdx.x * 8 + q;
		if (e < count) mine.a = q == 0 ? (double)scan_x[e + e / 8] : mine.a + scan_x[e + e / 8];
	}
TEAMSBEFORE	if (team == 0) {
		double *sums = partial, *running = partial + JOBS, sum = 0.0;
		if (tile > 0) {
			if (lane == 0) {
				*(volatile double *)(sums + job) = all.a;
				__threadfence();
				*(volatile int *)(state + job) = 1;
			}
			int known = -1;
			for (int end = job; known < 0;) { // a lane for each of the tiles before this one
				const int that = end - 1 - lane, had = that >= job - tile ? *(volatile int *)(state + that) : 0;
				const unsigned both = __ballot_sync(0xffffffffu, had == 2), nothing = __ballot_sync(0xffffffffu, had == 0);
				if (nothing & (both ? (both & -both) - 1 : 0xffffffffu)) continue; // a tile that is needed
				if (both) known = end - __ffs(both);
				end -= 32;
			}
			__threadfence();
			sum = *(volatile double *)(running + known);
			for (int next = known + 1; next < job; next += 32) {
				const double part = next + lane < job ? *(volatile double *)(sums + next + lane) : 0.0;
				for (int q = 0; q < 32 && next + q < job; q++) sum += __shfl_sync(0xffffffffu, part, q);
			}
		}
		if (lane == 0) {
			*(volatile double *)(running + job) = sum + all.a;
			__threadfence();
			*(volatile int *)(state + job) = 2;
			scan_before = sum;
		}
	}
	__syncthreads();
	double own = scan_before + before_me.a;
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = threadIdx.x * 8 + q;
		if (e >= count) break;
		const double before = own;
		own += scan_x[e + e / 8];
		scan_x[e + e / 8] = (R)RESULT;
	}
	__syncthreads();
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = q * BLOCK + threadIdx.x;
		if (e < count) out[first + (from + e) * STEP] = scan_x[e + e / 8];
	}
	__syncthreads();
	}
}

`))
}

// lookWork counts the scan: what it reads and writes, and how long a block works on a tile, with one look back at tiles in the L2 cache.
func (c scan) lookWork(s *Step, lines, n int) roofline.Work {
	tiles := (n + scanTile - 1) / scanTile
	grid := min(lines*tiles, 132*c.resident())
	w := c.scanWork(s, n, lines, tiles, scanTile, false)
	turns := float64((lines*tiles + grid - 1) / grid)
	w.Serial *= turns
	w.Trips = 3 * turns
	w.Use(scratchArray, 40*float64(lines*tiles), true)
	return w
}
