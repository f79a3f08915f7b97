// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"
)

// PlainSquares are the ends of the range in which a sum of squares in float32 and in float64 has all digits, whatever it is a sum of.
var PlainSquares = [2][2]float64{{1e-25, 1e37}, {1e-280, 1e300}}

// RootOfSquares takes the root of sums of squares of in1 over axes, and sums again, divided by the largest, where in0 is out of range: a
// thread for each sum.
func RootOfSquares(s *Step) bool {
	shape := s.InShape(1)
	stride, n, inner := make([]int, len(shape)), 1, 1
	for axis := len(shape) - 1; axis >= 0; axis-- {
		stride[axis] = inner
		inner *= shape[axis]
	}
	var base, at []string // where the elements of result i begin, and where element k of them is from there
	for axis, rest := len(shape)-1, 1; axis >= 0; axis-- {
		if slices.Contains(s.Attr, axis) {
			at = append(at, fmt.Sprintf("k / %s %% %s * %s", number(n), number(shape[axis]), number(stride[axis])))
			n *= shape[axis]
			continue
		}
		base = append(base, fmt.Sprintf("i / %s %% %s * %s", number(rest), number(shape[axis]), number(stride[axis])))
		rest *= shape[axis]
	}
	base, at = append(base, "0"), append(at, "0")
	s.Lines(s.Size(), fmt.Sprintf(`		R sum = in0[i];
		if (sum > (sizeof(R) == 4 ? %[4]g : %[6]g) && sum < (sizeof(R) == 4 ? %[5]g : %[7]g)) { out[i] = sqrt(sum); continue; }
		const R *x = in1 + (%[1]s);
		double most = 0.0, all = 0.0;
		for (index_t k = 0; k < %[3]s; k++) {
			double v = fabs((double)x[%[2]s]);
			if (v != v || v > most) most = v;
			if (v != v) break;
		}
		if (most > 0.0 && 2.0 * most > most) {
			for (index_t k = 0; k < %[3]s; k++) {
				double v = (double)x[%[2]s] / most;
				all += v * v;
			}
			most *= sqrt(all);
		}
		out[i] = (R)most;`, strings.Join(base, " + "), strings.Join(at, " + "), number(n), PlainSquares[0][0], PlainSquares[0][1], PlainSquares[1][0], PlainSquares[1][1]))
	return true
}
