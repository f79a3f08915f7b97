package kernels

// SinCos64 sets s = sin x and c = cos x, as the kernels of these names do. The slices have the same length, or it
// panics; s and c do not overlap, and s is not x.
func SinCos64(s, c, x []float64) {
	if n := len(x); sameLength(n, len(s), len(c)) {
		sinBest64(&s[0], &x[0], n)
		cosBest64(&c[0], &x[0], n)
	}
}

// SinCos32 is SinCos64 for float32.
func SinCos32(s, c, x []float32) {
	if n := len(x); sameLength(n, len(s), len(c)) {
		sinBest32(&s[0], &x[0], n)
		cosBest32(&c[0], &x[0], n)
	}
}

var (
	sinBest64, cosBest64 = Unary64(Best(), "sin"), Unary64(Best(), "cos")
	sinBest32, cosBest32 = Unary32(Best(), "sin"), Unary32(Best(), "cos")
)
