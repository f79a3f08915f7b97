// What a pixel of the detector sees of the sums over slices: see lattice.go, ewald.go, expose.go and
// project.go, whose arithmetic this follows. The text before this one defines R, pair, FIELDS, MATERIALS,
// VIEW (numbers of a view), TURN (numbers of a turn) and EACH_MATERIAL(F), which expands F(material, first field,
// fields) for each material.

// Grid has the lattice and the tables of elements.
struct Grid {
	const double *q[3];              // q of the planes, rows and columns in 1/nm
	double first, step;              // q of the first plane and distance of planes
	const int *start, *place, *plane; // first element at a place of the half spectrum; place and plane of an element
	int size, n[3];                  // elements; planes, rows, columns
	int edge, nearest;               // whether the last row and column are empty, and whether planes are not interpolated
};

// A view has wave, the wavevector, the electric fields e1 and e2, three contrasts of each material, and three
// changes of them.
enum { WAVE = 0, KV = 1, E1 = 4, E2 = 7, CONTRASTS = 10, CHANGES = 10 + 6 * MATERIALS };

// A turn has cosine and sine of its rotation, the weights of three images, how often it and its opposite occur,
// and, in the material's frame, a rotation matrix.
enum { COS = 0, SIN = 1, MIX = 2, SAME = 5, OPPOSITE = 6, MATRIX = 7 };

// Some views, lanes of them, lie side by side in memory, because what is computed for one pixel of them is computed
// together. slot is the place of a pixel of a view, to be multiplied by the images that the view has there.
static inline __device__ index_t slot(int view, int pixel, int pixels, int lanes) { return ((index_t)(view / lanes) * pixels + pixel) * lanes; }

struct cplx { double x, y; };
static inline __device__ cplx operator+(cplx a, cplx b) { cplx r = {a.x + b.x, a.y + b.y}; return r; }
static inline __device__ cplx operator-(cplx a, cplx b) { cplx r = {a.x - b.x, a.y - b.y}; return r; }
static inline __device__ cplx operator*(cplx a, cplx b) { cplx r = {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; return r; }
static inline __device__ cplx operator*(double f, cplx a) { cplx r = {f * a.x, f * a.y}; return r; }
static inline __device__ void operator+=(cplx &a, cplx b) { a.x += b.x; a.y += b.y; }
static inline __device__ cplx mul_conj(cplx a, cplx b) { cplx r = {a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y}; return r; }
static inline __device__ double abs2(cplx a) { return a.x * a.x + a.y * a.y; }

// Products and sums that are rounded one by one decide which pixels see something, as on the processor.
static inline __device__ double exact_mul(double a, double b) {
#if defined(__CUDACC_RTC__)
	return __dmul_rn(a, b);
#else
	return a * b;
#endif
}
static inline __device__ double exact_sub(double a, double b) {
#if defined(__CUDACC_RTC__)
	return __dadd_rn(a, -b);
#else
	return a - b;
#endif
}
static inline __device__ double exact_add(double a, double b) { return exact_sub(a, -b); }

static inline __device__ double not_a_number() { return __longlong_as_double(0x7ff8000000000000ll); }

// cut finds where a pixel meets the Ewald sphere: plane z, and the weight of plane z + 1.
static inline __device__ bool cut(const Grid &g, const double *v, int y, int x, int *z, double *part) {
	*z = 0; *part = 0;
	if (g.edge && (y == g.n[1] - 1 || x == g.n[2] - 1)) return false;
	double k = v[WAVE], kx = exact_add(v[KV], g.q[2][x]), ky = exact_add(v[KV + 1], g.q[1][y]);
	double val = exact_sub(exact_sub(exact_mul(k, k), exact_mul(kx, kx)), exact_mul(ky, ky));
	if (val < 0) return false;
	if (g.n[0] == 1) return true;
	double zf = exact_sub(exact_sub(sqrt(val), v[KV + 2]), g.first) / g.step;
	if (g.nearest) {
		double f = floor(zf + 0.5);
		*z = (int)f;
		return f >= 0 && f <= g.n[0] - 1;
	}
	double f = floor(zf);
	*z = (int)f;
	*part = zf - f;
	return f >= 0 && (f + 1 <= g.n[0] - 1 || *part == 0 && f == g.n[0] - 1);
}

// origin returns the element of the transform behind pixel m of n.
static inline __device__ int origin(int m, int n) { int i = (n / 2 - m) % n; return i < 0 ? i + n : i; }

// Site is an element as a pixel reads it: F = C - i sign S, and its conjugate where turn is -1.
struct Site { int element; double sign, turn; };

// plane_of returns the plane of sums that a pixel reads for detector plane z.
static inline __device__ int plane_of(const Grid &g, int z, bool conj, double *sign) {
	int p = origin(z, g.n[0]);
	if (conj && p > 0) p = g.n[0] - p;
	*sign = 1;
	if (2 * p > g.n[0]) { p = g.n[0] - p; *sign = -1; }
	return p;
}

static inline __device__ cplx value(const pair *sums, const Grid &g, const Site &s, int field) {
	const pair *at = sums + (index_t)(2 * field) * g.size + s.element;
	pair c = at[0], v = at[g.size];
	cplx r = {(double)c.x + s.sign * (double)v.y, s.turn * ((double)c.y - s.sign * (double)v.x)};
	return r;
}

// dielectric adds to n the transform of e - 1, xx, xy, xz, yy, yz, zz, with contrasts c.
static inline __device__ void dielectric(const pair *sums, const Grid &g, const Site &s, const double *c, cplx *n) {
	cplx iso = {0, 0};
#define ADD_MATERIAL(m, first, count) { \
		const cplx *k = (const cplx *)(c + 6 * m); \
		iso += k[0] * value(sums, g, s, first); \
		if (count > 1) { \
			cplx pa = value(sums, g, s, first + 1), xx = value(sums, g, s, first + 2), yy = value(sums, g, s, first + 5), t = k[2]; \
			iso += k[1] * pa; \
			n[0] += t * xx; n[1] += t * value(sums, g, s, first + 3); n[2] += t * value(sums, g, s, first + 4); \
			n[3] += t * yy; n[4] += t * value(sums, g, s, first + 6); n[5] += t * (pa - xx - yy); \
		} \
	}
	EACH_MATERIAL(ADD_MATERIAL)
	n[0] += iso; n[3] += iso; n[5] += iso;
}

// polarization sets a to n e/(4 pi).
static inline __device__ void polarization(const cplx *n, const double *e, cplx *a) {
	const double f = 0.07957747154594767;
	double x = f * e[0], y = f * e[1], z = f * e[2];
	a[0] = x * n[0] + y * n[1] + z * n[2];
	a[1] = x * n[1] + y * n[3] + z * n[4];
	a[2] = x * n[2] + y * n[4] + z * n[5];
}

static inline __device__ cplx along(const cplx *a, const double *v) { return v[0] * a[0] + v[1] * a[1] + v[2] * a[2]; }
static inline __device__ double norm(const cplx *a) { return abs2(a[0]) + abs2(a[1]) + abs2(a[2]); }
static inline __device__ double inner(const cplx *a, const cplx *b) {
	return a[0].x * b[0].x + a[0].y * b[0].y + a[1].x * b[1].x + a[1].y * b[1].y + a[2].x * b[2].x + a[2].y * b[2].y;
}
static inline __device__ void blend(const double *t, const cplx *a, const cplx *b, cplx *c) {
	for (int i = 0; i < 3; i++) c[i] = t[COS] * a[i] + t[SIN] * b[i];
}

// transfer sets kappa = k + q.
static inline __device__ void transfer(const Grid &g, const double *v, int z, int y, int x, double *kappa) {
	kappa[0] = v[KV] + g.q[2][x]; kappa[1] = v[KV + 1] + g.q[1][y]; kappa[2] = v[KV + 2] + g.q[0][z];
}

// turned sets w to kappa in the frame of a turn.
static inline __device__ void turned(const double *t, int material, const double *kappa, double *w) {
	for (int i = 0; i < 3; i++)
		w[i] = material ? t[MATRIX + 3 * i] * kappa[0] + t[MATRIX + 3 * i + 1] * kappa[1] + t[MATRIX + 3 * i + 2] * kappa[2] : kappa[i];
}

// factors sets those of |A|^2 and |kappa A|^2 in an intensity.
static inline __device__ void factors(const double *v, const double *kappa, double *all, double *parallel) {
	double k2 = v[WAVE] * v[WAVE];
	*all = k2 * k2;
	*parallel = kappa[0] * kappa[0] + kappa[1] * kappa[1] + kappa[2] * kappa[2] - 2 * k2;
}
