// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// LogMillsDrop returns log(R(a) - R(a+h)) for h > 0, where R(a) = (1 - Phi(a))/phi(a) is Mills' ratio of the normal
// distribution: exact however small h is. It is -Inf at h = 0 and NaN below.
//
// Gradient: the mean of -t for a and of t/(exp(h t) - 1) for h, under the density over t > 0 that is proportional to
// exp(-a t - t^2/2) (1 - exp(-h t)), the integrand of R(a) - R(a+h).
func LogMillsDrop(a, h *Node) *Node { return apply(logMillsDropOp, a, h) }

// LogMillsMean returns log((Phi(a+w) - Phi(a))/phi(a)/w), the mean of the normal density over an interval of width w >= 0 in
// units of the density at its lower end a: exact far out and for narrow intervals, where [LogPhiDiff] only sees two rounded
// ends. It is NaN for w < 0, and for a < 0 if (|a| + w) w is 8 or more: there LogPhiDiff loses nothing.
//
// Gradient: -w U1 for a and -(a U1 + w U2) for w, where Un is the mean of u^n over 0 < u < 1 with the weight
// exp(-a w u - w^2 u^2/2).
func LogMillsMean(a, w *Node) *Node { return apply(logMillsMeanOp, a, w) }

// LogMillsPart returns log((Phi(a+w) - Phi(a))/phi(a)) for the same arguments. Its derivative with respect to w keeps its
// digits for wide intervals, where it is small, and that of LogMillsMean for narrow ones.
//
// Gradient: -w U1 for a, as above, and exp(-a w - w^2/2 - y) for w.
func LogMillsPart(a, w *Node) *Node { return apply(logMillsPartOp, a, w) }

var logMillsDropOp, logMillsMeanOp, logMillsPartOp *Op

// millsKey names a moment of one of the two densities: "moment", "rise" or "mean", and its order.
type millsKey struct {
	kind string
	n    int
}

var (
	millsOps   = map[millsKey]*Op{}
	millsOpsMu sync.Mutex
)

// millsMoment returns the n-th moment, whose operation is made at first use.
func millsMoment(kind string, n int, a, h *Node) *Node {
	return apply(millsMomentOp(kind, n), a, h)
}

func millsMomentOp(kind string, n int) *Op {
	millsOpsMu.Lock()
	defer millsOpsMu.Unlock()
	if op := millsOps[millsKey{kind, n}]; op != nil {
		return op
	}
	f := map[string]func(n int, a, h float64) float64{"moment": special.MillsDropMoment, "rise": special.MillsDropRise, "mean": special.MillsMeanMoment}[kind]
	text := map[string]string{"moment": "eu_mills_drop_moment(%d, x, y)", "rise": "eu_mills_drop_rise(%d, x, y)", "mean": "eu_mills_mean_moment(%d, x, y)"}[kind]
	op := Binary{
		Name:   fmt.Sprintf("mills_%s_%d", kind, n),
		CPU:    func(a, h float64) float64 { return f(n, a, h) },
		CUDA:   fmt.Sprintf(text, n),
		Helper: special.CUDAMills,
		Double: true,
		VJP: func(g, y, a, h *Node) (da, dh *Node) {
			switch kind {
			case "moment":
				da = Sub(Mul(y, millsMoment("moment", 1, a, h)), millsMoment("moment", n+1, a, h))
				dh = Sub(millsMoment("rise", n+1, a, h), Mul(y, millsMoment("rise", 1, a, h)))
			case "rise":
				da = Sub(Mul(y, millsMoment("moment", 1, a, h)), millsMoment("rise", n+1, a, h))
				dh = Neg(Add(Mul(y, millsMoment("rise", 1, a, h)), millsMoment("rise", n+1, a, h)))
			default:
				u := func(k int) *Node { // covariance of u^n and u^k
					return Sub(millsMoment("mean", n+k, a, h), Mul(y, millsMoment("mean", k, a, h)))
				}
				da, dh = Neg(Mul(h, u(1))), Neg(Add(Mul(a, u(1)), Mul(h, u(2))))
			}
			return Mul(g, da), Mul(g, dh)
		},
		Domain: Interval{0.2, 3},
	}.Define()
	millsOps[millsKey{kind, n}] = op
	return op
}

func init() {
	for _, kind := range []string{"moment", "rise", "mean"} {
		millsMomentOp(kind, 1)
	}
	logMillsDropOp = Binary{
		Name:   "log_mills_drop",
		CPU:    special.LogMillsDrop,
		CUDA:   "eu_log_mills_drop(x, y)",
		Helper: special.CUDAMills,
		Double: true,
		VJP: func(g, _, a, h *Node) (da, dh *Node) {
			return Neg(Mul(g, millsMoment("moment", 1, a, h))), Mul(g, millsMoment("rise", 1, a, h))
		},
		Domain: Interval{0.2, 3},
	}.Define()
	logMillsMeanOp = Binary{
		Name:   "log_mills_mean",
		CPU:    special.LogMillsMean,
		CUDA:   "eu_log_mills_mean(x, y)",
		Helper: special.CUDAMills,
		Double: true,
		VJP: func(g, _, a, w *Node) (da, dw *Node) {
			u1, u2 := millsMoment("mean", 1, a, w), millsMoment("mean", 2, a, w)
			return Neg(Mul(g, Mul(w, u1))), Neg(Mul(g, Add(Mul(a, u1), Mul(w, u2))))
		},
		Domain: Interval{0.2, 3},
	}.Define()
	logMillsPartOp = Binary{
		Name:   "log_mills_part",
		CPU:    special.LogMillsPart,
		CUDA:   "eu_log_mills_part(x, y)",
		Helper: special.CUDAMills,
		Double: true,
		VJP: func(g, y, a, w *Node) (da, dw *Node) {
			edge := Exp(Neg(Add(Mul(w, Add(a, Scale(0.5, w))), y)))
			return Neg(Mul(g, Mul(w, millsMoment("mean", 1, a, w)))), Mul(g, edge)
		},
		Domain: Interval{0.2, 3},
	}.Define()
}
