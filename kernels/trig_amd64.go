//go:build amd64 && !purego

package kernels

import (
	"math"
	"unsafe"
)

// The assembly of sin and cos stops before a vector with an element beyond its reduction; package math does that one.

func sinAnyF64AVX512(dst, a *float64, n int) { trig(dst, a, n, 8, sinF64AVX512, math.Sin) }
func sinAnyF32AVX512(dst, a *float32, n int) { trig(dst, a, n, 16, sinF32AVX512, math.Sin) }
func sinAnyF64AVX2(dst, a *float64, n int)   { trig(dst, a, n, 4, sinF64AVX2, math.Sin) }
func sinAnyF32AVX2(dst, a *float32, n int)   { trig(dst, a, n, 8, sinF32AVX2, math.Sin) }
func cosAnyF64AVX512(dst, a *float64, n int) { trig(dst, a, n, 8, cosF64AVX512, math.Cos) }
func cosAnyF32AVX512(dst, a *float32, n int) { trig(dst, a, n, 16, cosF32AVX512, math.Cos) }
func cosAnyF64AVX2(dst, a *float64, n int)   { trig(dst, a, n, 4, cosF64AVX2, math.Cos) }
func cosAnyF32AVX2(dst, a *float32, n int)   { trig(dst, a, n, 8, cosF32AVX2, math.Cos) }

func trig[T float](dst, a *T, n, lanes int, vector func(dst, a *T, n int) int, scalar func(float64) float64) {
	done := vector(dst, a, n)
	for done < n {
		d, s := unsafe.Slice(dst, n), unsafe.Slice(a, n)
		end := min(done+lanes, n)
		for ; done < end; done++ {
			d[done] = T(scalar(float64(s[done])))
		}
		if done < n {
			done += vector(&d[done], &s[done], n-done)
		}
	}
}
