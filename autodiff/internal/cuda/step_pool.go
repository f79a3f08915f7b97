// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strconv"
	"strings"
)

// poolingText declares the geometry of windows that slide over planes (planes, H, W, lanes) to (planes, P, Q, lanes).
func poolingText(s *Step, images, pools []int) string {
	a := s.Attr
	plane := func(shape []int) string { return number(shape[2] * shape[3] * a[8]) }
	row := func(shape []int) string {
		// It is multiplied by the number of a row: in 64 bits where a plane needs them.
		return strconv.Itoa(shape[3]*a[8]) + pick(strings.HasSuffix(plane(shape), "LL"), "LL", "")
	}
	return fmt.Sprintf(`		const int H = %d, W = %d, P = %d, Q = %d, L = %d, A = %d, B = %d, down = %d, right = %d, north = %d, west = %d, downBy = %d, rightBy = %d;
		const auto imageRow = %s; const auto image = %s; const auto poolRow = %s; const auto pool = %s; // elements
`, images[2], images[3], pools[2], pools[3], a[8], a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], row(images), plane(images), row(pools), plane(pools))
}

// window is the text that visits the elements of window i that are in the image; e is where one is.
const window = `		const int lane = i %% L, q = i / L %% Q, p = i / poolRow %% P;
		const R *plane = in0 + i / pool * image + lane;
		for (int a = 0; a < A; a++) {
			int y = p * down + a * downBy - north;
			if (y < 0 || y >= H) continue;
			for (int b = 0; b < B; b++) {
				int x = q * right + b * rightBy - west;
				if (x < 0 || x >= W) continue;
				const int e = y * W + x;
				%s
			}
		}
`

// PoolIndices finds the largest element of each window: a thread has a window.
func PoolIndices(s *Step) bool {
	s.Elements(s.Size(), poolingText(s, s.InShape(0), s.Value.Shape)+"		int at = -1;\n		R best = 0;\n"+
		fmt.Sprintf(window, "{ const R v = plane[y * imageRow + x * L]; if (at < 0 || v > best || (v != v && best == best)) { best = v; at = e; } }")+"		out[i] = at;")
	s.windows(s.Size(), s.Attr[0], s.Attr[1])
	return true
}

// PoolSum adds up each window: a thread has a window.
func PoolSum(s *Step) bool {
	s.Elements(s.Size(), poolingText(s, s.InShape(0), s.Value.Shape)+"		double sum = 0.0;\n"+fmt.Sprintf(window, "sum += (double)plane[y * imageRow + x * L];")+"		out[i] = (R)sum;")
	return true
}

// PoolSpread adds up the windows that an element is in: a thread has an element.
func PoolSpread(s *Step) bool {
	s.Elements(s.Size(), poolingText(s, s.Value.Shape, s.InShape(0))+`		const int lane = i % L, x = i / L % W, y = i / imageRow % H;
		const R *pools = in0 + i / image * pool + lane;
		double sum = 0.0;
		for (int a = A - 1; a >= 0; a--) {
			int p = y + north - a * downBy;
			if (p < 0 || p % down || (p /= down) >= P) continue;
			for (int b = B - 1; b >= 0; b--) {
				int q = x + west - b * rightBy;
				if (q < 0 || q % right || (q /= right) >= Q) continue;
				sum += (double)pools[p * poolRow + q * L];
			}
		}
		out[i] = (R)sum;`)
	return true
}
