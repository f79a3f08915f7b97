// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"strings"

	"github.com/euryale-dev/euryale/internal/roofline"
)

// ahead makes the kernels of running sums of few long lines, which read and write each element once. A block takes the next tile, whichever
// that is, publishes its sum, and waits for those before it: of each group of 256 tiles, the last tile publishes the sum, so that a block adds up at most
// 256 sums of tiles and those of all groups before. Which numbers are added in which order follows from the place of a
// tile alone, so that every run gives the same bits. A first kernel marks all sums as missing.
//
// Tiles are numbered by a counter as blocks take them: a block waits only for tiles that others have begun, and these wait for none after
// them. A sum is published as one word of 64 bits, whose arrival says that it is there.
func (c scan) ahead(s *Step, lines, tiles, n int, at string, step int) {
	groups := (tiles + block - 1) / block
	jobs := lines * tiles
	words := jobs + lines*groups + 1
	s.g.partials = max(s.g.partials, words)
	s.Shared("scan ahead", `__shared__ unsigned scan_next;
static inline __device__ void eu_publish(double *to, double v) {
	long long word = __double_as_longlong(v); // -1 is that of a NaN, and says that the sum is missing
	*(volatile long long *)to = word == -1 ? 0x7ff8000000000000LL : word;
}
static inline __device__ double eu_await(const double *from) {
	long long word;
	while ((word = *(const volatile long long *)from) == -1) __nanosleep(32);
	return __longlong_as_double(word);
}
static inline __device__ double eu_of_block(double v) { // the sum of all threads' numbers, in all of them
	for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
	if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = v;
	__syncthreads();
	v = room[0];
	for (int w = 1; w < blockDim.x / 32; w++) v += room[w];
	__syncthreads();
	return v;
}
`)
	s.Begin(Launch{Kernel: s.g.name("scan"), Grid: gridOf(words, s.g.choice("elements"), mostGrid), Block: block, Work: missingWork(words)})
	s.Printf("\tfor (int i = blockIdx.x * %[1]d + threadIdx.x; i < %[2]d; i += gridDim.x * %[1]d) ((long long *)partial)[i] = i < %[2]d - 1 ? -1 : 0;\n}\n\n", block, words)
	s.Begin(Launch{Kernel: s.g.name("scan"), Grid: max(1, min(jobs, scanJobs)), Block: block, Resident: c.resident(), Work: c.aheadWork(s, n, lines, tiles),
		Shared: (scanTile+scanTile/8)*s.g.precision/8 + 16*(block/warp+1)})
	fill := append([]string{"JOBS", number(jobs), "TILES", number(tiles), "GROUPS", number(groups), "LAST", number(jobs + lines*groups)}, c.fill(s, at, n, step)...)
	text := `	const pair_t none = NONE;
	int lane = threadIdx.x % 32, team = threadIdx.x / 32;
	for (;;) {
	if (threadIdx.x == 0) scan_next = atomicAdd((unsigned *)(partial + LAST), 1u);
	__syncthreads();
	const int job = scan_next;
	if (job >= JOBS) break;
	const int i = job / TILES, tile = job % TILES, group = tile / BLOCK, tile0 = group * BLOCK;
	const index_t first = FIRST, from = tile * (index_t)TILE;
	const int count = LONG - from < TILE ? (int)(LONG - from) : TILE;
` + scanLoad + `TEAMSBEFORE	double *sums = partial + i * TILES + tile0, *totals = partial + JOBS + i * GROUPS;
	if (threadIdx.x == 0) eu_publish(partial + job, all.a);
	const double near = eu_of_block(tile0 + threadIdx.x < tile ? eu_await(sums + threadIdx.x) : 0.0);
	if (threadIdx.x == 0 && tile - tile0 == BLOCK - 1) eu_publish(totals + group, near + all.a);
	double far = 0.0;
	for (int k = threadIdx.x; k < group; k += BLOCK) far += eu_await(totals + k);
	if (group > 0) far = eu_of_block(far);
	pair_t h = {far + near, 0.0};
` + scanOwn + "\t__syncthreads();\n"
	if !s.IsInt {
		text += scanPut
	}
	s.Printf("%s", strings.NewReplacer(fill...).Replace(text+"\t}\n}\n\n"))
}

// missingWork counts the kernel that marks words as missing.
func missingWork(words int) (w roofline.Work) {
	n := float64(words)
	w.Use(scratchArray, 8*n, true)
	w.Sectors, w.Accesses, w.Integers = 8*n/32, n, narrowStepping*n
	return w
}

// aheadWork counts the kernel of tiles that wait for the sums of those before them. A block has its own tile to wait for, the number of which it
// asks for, and then twice for the sums of others.
func (c scan) aheadWork(s *Step, n, lines, tiles int) roofline.Work {
	w := c.scanWork(s, n, lines, tiles, scanTile, false)
	jobs := float64(lines * tiles)
	rounds := jobs / float64(min(lines*tiles, scanJobs))
	w.Trips, w.Serial = 4*rounds, w.Serial*rounds
	w.Serial += rounds * 2 * (2*barrier + 5*2*shuffle + block/warp*(sharedLoad/2+8))
	w.Use(scratchArray, 8*jobs, true)
	w.Sectors += jobs * (block / 2 / 4) // half of a group
	threads := jobs * block
	w.Float64, w.Accesses, w.Integers = w.Float64+13*threads, w.Accesses+12*threads, w.Integers+20*threads
	return w
}
