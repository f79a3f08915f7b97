package kernels

// LargestOfFour64 writes where the largest elements of windows of 2 x 2 are, which lie side by side in the rows top and bottom of a
// plane: first is where the first window begins, width the length of a row of the plane. The first of equal elements counts, and a NaN
// before all others.
func LargestOfFour64(l Level, at []int64, top, bottom []float64, first, width int) {
	largestOfFour(images64[min(l, available())], at, top, bottom, first, width)
}

// LargestOfFour32 is LargestOfFour64 for float32.
func LargestOfFour32(l Level, at []int64, top, bottom []float32, first, width int) {
	largestOfFour(images32[min(l, available())], at, top, bottom, first, width)
}

func largestOfFour[T float](t *imageKernels[T], at []int64, top, bottom []T, first, width int) {
	if t != nil && t.largestOfFour != nil && first+2*width < 1<<31 { // float32 counts in 32 bits
		if len(at) > 0 {
			t.largestOfFour(len(at), &top[0], &bottom[0], first, width, &at[0])
		}
		return
	}
	for q := range at {
		e := 2 * q
		a, b, c, d := top[e], top[e+1], bottom[e], bottom[e+1]
		if sum := a + b + c + d; sum != sum { // a NaN, or infinities
			at[q] = int64(first + largestOfSome(e, width, a, b, c, d))
			continue
		}
		i, j := e+bit(b > a), e+bit(d > c) // without branches, which would be as good as random
		at[q] = int64(first + i + bit(bottom[j] > top[i])*(j+width-i))
	}
}

// largestOfSome is the case of a window at e that may have NaNs.
func largestOfSome[T float](e, width int, a, b, c, d T) int {
	best, where := a, e
	for i, u := range [...]T{b, c, d} {
		if best == best && !(u <= best) {
			best, where = u, [...]int{e + 1, e + width, e + width + 1}[i]
		}
	}
	return where
}

// bit returns 1 if is is true. It compiles to no branch.
func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}
