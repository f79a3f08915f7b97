// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Steps of brains. A launch serves many targets, of one brain or of many: the last axis of the grid counts
// them, and tables in memory say where each one's arrays are. Sums have a fixed order, and the only atomic
// operations are on integers, so that the same step gives the same bits every time.
//
// W, which stands before this text, is the type in which weights are stored.

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;

// A weight below SPECIAL stands for no number.
#define SPECIAL (-10000.0)
#define NONE (-20000.0)    // no synapse
#define UNKNOWN (-30000.0) // nobody has looked yet whether there is a synapse

static inline __device__ u64 mix(u64 z) {
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

// Row says which connections of a source neuron to draw, and where they go: to a list, whose first number is
// its length, or as 1 more in counts.
struct Row {
	u64 state;     // of its random numbers
	int *to;       // nullptr: count
	int *counts;
	const u32 *upto, *guide; // table of the distances between connections
	int entries;   // of upto
	int room;      // of the list
	int n;         // neurons of the target
	int without;   // a target to leave out, or -1
};

// draw gives a row to each block. Each thread draws a distance; their sums are where the connections are.
extern "C" __global__ void draw(const Row *rows, int *full) {
	__shared__ i64 sum[256];
	Row r = rows[blockIdx.x];
	int t = threadIdx.x;
	i64 at = -1;
	int found = 0;
	for (u64 first = 0; at < r.n; first += 256) {
		u64 number = first + t;
		u64 z = mix(r.state + (number / 2 + 1) * 0x9E3779B97F4A7C15ULL);
		u32 u = number % 2 ? (u32)(z >> 32) : (u32)z;
		int k = (int)r.guide[u >> 20];
		while (k < r.entries && r.upto[k] <= u) k++;
		i64 step = k == r.entries ? k : k + 1, mine = step;
		sum[t] = mine;
		__syncthreads();
		for (int d = 1; d < 256; d *= 2) {
			i64 before = t >= d ? sum[t - d] : 0;
			__syncthreads();
			sum[t] += before;
			__syncthreads();
		}
		i64 place = at + sum[t];
		int is = k < r.entries && place < r.n && place != r.without;
		at += sum[255];
		__syncthreads();
		sum[t] = is;
		__syncthreads();
		for (int d = 1; d < 256; d *= 2) {
			i64 before = t >= d ? sum[t - d] : 0;
			__syncthreads();
			sum[t] += before;
			__syncthreads();
		}
		if (is && r.to) {
			i64 where = found + sum[t] - 1;
			if (where < r.room) r.to[1 + where] = (int)place;
		} else if (is) {
			atomicAdd(&r.counts[place], 1);
		}
		found += (int)sum[255];
		__syncthreads();
	}
	if (t == 0 && r.to) {
		r.to[0] = found < r.room ? found : r.room;
		if (found > r.room) atomicMax(full, found);
	}
}

// Change adds by to the count of every target of a list.
struct Change {
	const int *to;
	int *counts;
	int by, unused;
};

extern "C" __global__ void change(const Change *changes) {
	Change c = changes[blockIdx.y];
	int n = c.to[0];
	for (i64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&c.counts[c.to[1 + i]], c.by);
}

// Into is a fibre into a target.
struct Into {
	const int *counts;    // synapses onto each neuron; nullptr: the weights hold all
	const double *total;  // summed weights of a stimulus, or nullptr
	const double *scale;  // factors of a normalised fibre, or nullptr
	const W *weight;      // by slot of the source and slot of the target, or nullptr
	const int *sources;   // slots of the neurons that fire
	int firing;
	int stride;           // of weight
	double base;          // weight that counts stand for: 1, or 0 where there are none
};

// Target is an area whose winners are chosen.
struct Target {
	double *x;
	const int *neuron;    // of each slot, or nullptr if they are the same
	int n, slots;
	int first, fibres;    // in the table of fibres
	u64 *key;             // of the last winner: found bit by bit
	int *hist;            // 2048 counts
	int *tally;           // 2 for each tile
	int *winner;
	double *input;
	int k, tiles;
};

// gather sums what stimuli and unchanged synapses give.
extern "C" __global__ void gather(const Target *targets, const Into *fibres) {
	Target t = targets[blockIdx.y];
	for (i64 j = blockIdx.x * blockDim.x + threadIdx.x; j < t.n; j += gridDim.x * blockDim.x) {
		double v = 0;
		for (int f = t.first; f < t.first + t.fibres; f++) {
			double c = fibres[f].counts ? (double)fibres[f].counts[j] : 0.0;
			v += fibres[f].scale ? fibres[f].scale[j] * c : c;
		}
		for (int f = t.first; f < t.first + t.fibres; f++) {
			if (!fibres[f].total) continue;
			double c = fibres[f].total[j] - (fibres[f].counts ? (double)fibres[f].counts[j] : 0.0);
			v += fibres[f].scale ? fibres[f].scale[j] * c : c;
		}
		t.x[j] = v;
	}
}

// correct adds the differences of weights that have changed. A block has 32 slots and 8 parts of the sources.
extern "C" __global__ void correct(const Target *targets, const Into *fibres) {
	__shared__ double part[8][32];
	Target t = targets[blockIdx.y];
	int lane = threadIdx.x, p = threadIdx.y;
	for (int from = blockIdx.x * 32; from < t.slots; from += gridDim.x * 32) {
		int slot = from + lane;
		int j = slot >= t.slots ? -1 : t.neuron ? t.neuron[slot] : slot;
		double all = 0;
		for (int f = t.first; f < t.first + t.fibres; f++) {
			Into in = fibres[f];
			if (!in.weight) continue;
			double v = 0;
			if (j >= 0 && slot < in.stride)
				for (int i = p; i < in.firing; i += 8) {
					double w = (double)in.weight[(i64)in.sources[i] * in.stride + slot];
					v += w > SPECIAL ? w - in.base : 0.0;
				}
			part[p][lane] = v;
			__syncthreads();
			if (p == 0) {
				double sum = part[0][lane];
				for (int q = 1; q < 8; q++) sum += part[q][lane];
				all += in.scale && j >= 0 ? in.scale[j] * sum : sum;
			}
			__syncthreads();
		}
		if (p == 0 && j >= 0) t.x[j] += all;
	}
}

// Less is an inhibition of one neuron.
struct Less {
	double *x;
	double by;
};

extern "C" __global__ void inhibit(const Less *list, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) *list[i].x -= list[i].by;
}

// rounded keeps 32 bits of the mantissa, as on the processor.
static inline __device__ double rounded(double x) {
	return __longlong_as_double((i64)(((u64)__double_as_longlong(x) + (1ULL << 19)) & ~((1ULL << 20) - 1)));
}

// ordered maps inputs to integers of the same order. The last 20 bits are the same for all of one sign.
static inline __device__ u64 ordered(double x) {
	u64 b = (u64)__double_as_longlong(rounded(x) + 0.0); // -0 is 0
	return b >> 63 ? ~b : b | 1ULL << 63;
}

// count counts 11 bits of the keys that begin as the sought key does; find takes the bits in which the k-th
// largest lies. After four turns the key is known but for bits that are alike.
extern "C" __global__ void count(const Target *targets, int shift) {
	__shared__ int hist[2048];
	Target t = targets[blockIdx.y];
	for (int i = threadIdx.x; i < 2048; i += blockDim.x) hist[i] = 0;
	__syncthreads();
	u64 key = shift == 53 ? 0 : t.key[0];
	for (i64 j = blockIdx.x * blockDim.x + threadIdx.x; j < t.n; j += gridDim.x * blockDim.x) {
		u64 o = ordered(t.x[j]);
		if (shift == 53 || o >> (shift + 11) == key >> (shift + 11)) atomicAdd(&hist[o >> shift & 2047], 1);
	}
	__syncthreads();
	for (int i = threadIdx.x; i < 2048; i += blockDim.x)
		if (hist[i]) atomicAdd(&t.hist[i], hist[i]);
}

// find runs in a block of 256 threads for each target.
extern "C" __global__ void find(const Target *targets, int shift) {
	__shared__ int above[256];
	Target t = targets[blockIdx.x];
	int i = threadIdx.x, mine = 0;
	int need = shift == 53 ? t.k : (int)t.key[1];
	u64 key = shift == 53 ? 0 : t.key[0];
	for (int b = 0; b < 8; b++) mine += t.hist[2047 - (8 * i + b)]; // from the largest on
	above[i] = mine;
	__syncthreads();
	for (int d = 1; d < 256; d *= 2) {
		int before = i >= d ? above[i - d] : 0;
		__syncthreads();
		above[i] += before;
		__syncthreads();
	}
	int before = above[i] - mine;
	if (before < need && need <= above[i])
		for (int b = 0; b < 8; b++) {
			int bin = 2047 - (8 * i + b), n = t.hist[bin];
			if (before < need && need <= before + n) {
				t.key[0] = key | (u64)bin << shift;
				t.key[1] = (u64)(need - before); // of the keys in this bin so many are taken
			}
			before += n;
		}
	__syncthreads();
	for (int b = 0; b < 8; b++) t.hist[2047 - (8 * i + b)] = 0;
}

#define TILE 2048

// larger and equal say how an input compares with the key of the last winner.
static inline __device__ bool larger(u64 o, u64 key) { return o >> 20 > key >> 20; }
static inline __device__ bool equal(u64 o, u64 key) { return o >> 20 == key >> 20; }

// tally counts, tile by tile, the inputs above the key and those at it.
extern "C" __global__ void tally(const Target *targets) {
	__shared__ int n[2];
	Target t = targets[blockIdx.y];
	u64 key = t.key[0];
	for (int tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
		if (threadIdx.x < 2) n[threadIdx.x] = 0;
		__syncthreads();
		int more = 0, same = 0;
		for (int i = threadIdx.x; i < TILE && tile * (i64)TILE + i < t.n; i += blockDim.x) {
			u64 o = ordered(t.x[tile * (i64)TILE + i]);
			more += larger(o, key);
			same += equal(o, key);
		}
		if (more) atomicAdd(&n[0], more);
		if (same) atomicAdd(&n[1], same);
		__syncthreads();
		if (threadIdx.x < 2) t.tally[2 * tile + threadIdx.x] = n[threadIdx.x];
		__syncthreads();
	}
}

// offsets turns the counts of tiles into those of all tiles before, in a block of 256 threads for each target.
extern "C" __global__ void offsets(const Target *targets) {
	__shared__ int sum[2][256];
	Target t = targets[blockIdx.x];
	int i = threadIdx.x, base[2] = {0, 0};
	for (int from = 0; from < t.tiles; from += 256) {
		int mine[2];
		for (int c = 0; c < 2; c++) sum[c][i] = mine[c] = from + i < t.tiles ? t.tally[2 * (from + i) + c] : 0;
		__syncthreads();
		for (int d = 1; d < 256; d *= 2) {
			int before[2];
			for (int c = 0; c < 2; c++) before[c] = i >= d ? sum[c][i - d] : 0;
			__syncthreads();
			for (int c = 0; c < 2; c++) sum[c][i] += before[c];
			__syncthreads();
		}
		for (int c = 0; c < 2; c++) {
			if (from + i < t.tiles) t.tally[2 * (from + i) + c] = base[c] + sum[c][i] - mine[c];
			base[c] += sum[c][255];
		}
		__syncthreads();
	}
}

// collect writes the winners in the order of their numbers: first those above the key, and of those at it the
// lowest. A block of 256 threads has a tile, each thread 8 neurons that follow each other.
extern "C" __global__ void collect(const Target *targets) {
	__shared__ int sum[2][256];
	Target t = targets[blockIdx.y];
	u64 key = t.key[0];
	int take = (int)t.key[1], i = threadIdx.x;
	for (int tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
		i64 from = tile * (i64)TILE + 8 * i;
		int mine[2] = {0, 0};
		for (int b = 0; b < 8 && from + b < t.n; b++) {
			u64 o = ordered(t.x[from + b]);
			mine[0] += larger(o, key);
			mine[1] += equal(o, key);
		}
		sum[0][i] = mine[0];
		sum[1][i] = mine[1];
		__syncthreads();
		for (int d = 1; d < 256; d *= 2) {
			int before[2];
			for (int c = 0; c < 2; c++) before[c] = i >= d ? sum[c][i - d] : 0;
			__syncthreads();
			for (int c = 0; c < 2; c++) sum[c][i] += before[c];
			__syncthreads();
		}
		int more = t.tally[2 * tile] + sum[0][i] - mine[0], same = t.tally[2 * tile + 1] + sum[1][i] - mine[1];
		__syncthreads();
		if (mine[0] + mine[1] == 0) continue;
		for (int b = 0; b < 8 && from + b < t.n; b++) {
			double x = rounded(t.x[from + b]);
			u64 o = ordered(x);
			int place = -1;
			if (larger(o, key)) place = more++;
			else if (equal(o, key) && same++ < take) place = t.k - take + same - 1;
			if (place >= 0) {
				t.winner[place] = (int)(from + b);
				t.input[place] = x;
			}
		}
	}
}

// Rule is how a weight grows.
struct Rule {
	int kind;
	int single; // whether weights are rounded to float, as the processor stores those of lazy areas
	double beta, most;
};

static inline __device__ double next(Rule r, double w) {
	switch (r.kind) {
	case 1: return w + r.beta * (1 - w / r.most);
	case 2: return w * (1 - r.beta);
	case 3: return 1 + r.beta;
	}
	return fmin(w * (1 + r.beta), r.most);
}

static inline __device__ double grown(Rule r, double w) {
	double v = next(r, w);
	return r.single ? (double)(float)v : v;
}

// Learning strengthens the synapses of a fibre from what fired to the winners.
struct Learning {
	W *weight;               // nullptr for a stimulus
	double *total;           // of a stimulus
	const int *inputs;       // of a stimulus: synapses onto each neuron
	const int *const *row;   // connections of each source, for synapses that nobody has looked for
	const int *sources;      // slots
	const int *slot, *neuron; // of the winners
	int firing, winners, stride, unused;
	Rule rule;
};

extern "C" __global__ void learn(const Learning *list) {
	Learning l = list[blockIdx.z];
	int w = blockIdx.x * blockDim.x + threadIdx.x;
	if (w >= l.winners) return;
	if (!l.weight) {
		if (blockIdx.y || threadIdx.y) return;
		int j = l.neuron[w];
		double n = (double)l.inputs[j];
		if (n > 0) l.total[j] = n * grown(l.rule, l.total[j] / n);
		return;
	}
	for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < l.firing; i += gridDim.y * blockDim.y) {
		W *at = l.weight + (i64)l.sources[i] * l.stride + l.slot[w];
		double v = (double)*at;
		if (v < (UNKNOWN + NONE) / 2) {
			const int *row = l.row[i];
			int low = 1, high = row[0] + 1, j = l.neuron[w];
			while (low < high) {
				int middle = (low + high) / 2;
				if (row[middle] < j) low = middle + 1;
				else high = middle;
			}
			v = low <= row[0] && row[low] == j ? 1.0 : NONE;
			if (v < SPECIAL) *at = v;
		}
		if (v > SPECIAL) *at = grown(l.rule, v);
	}
}

// widen copies weights to a larger array, whose other elements nobody has looked at, or which are none.
extern "C" __global__ void widen(const W *from, W *to, int rows, int stride, int newRows, int newStride, double other) {
	i64 all = (i64)newRows * newStride;
	for (i64 e = blockIdx.x * (i64)blockDim.x + threadIdx.x; e < all; e += (i64)gridDim.x * blockDim.x) {
		int i = (int)(e / newStride), j = (int)(e % newStride);
		to[e] = i < rows && j < stride ? (double)from[(i64)i * stride + j] : other;
	}
}

// Poke sets one number: a weight, given as a double, or 8 or 4 bytes.
struct Poke {
	void *at;
	u64 value;
	int kind, unused;
};

extern "C" __global__ void poke(const Poke *list, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	Poke p = list[i];
	if (p.kind == 0) *(W *)p.at = __longlong_as_double((i64)p.value);
	else if (p.kind == 1) *(u64 *)p.at = p.value;
	else *(u32 *)p.at = (u32)p.value;
}
