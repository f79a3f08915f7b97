package cuda

import "fmt"

// convolutionText declares the geometry of a convolution of images (N, G C, H, W) with filters (G O, C, A, B) to
// results (N, G O, P, Q).
func convolutionText(s *Step, images, filters, results []int) string {
	g := s.Attr[6]
	return fmt.Sprintf(`		const int N = %d, G = %d, C = %d, O = %d, H = %d, W = %d, A = %d, B = %d, P = %d, Q = %d;
		const int down = %d, right = %d, north = %d, west = %d, downBy = %d, rightBy = %d;
`, images[0], g, images[1]/g, filters[0]/g, images[2], images[3], filters[2], filters[3], results[2], results[3],
		s.Attr[0], s.Attr[1], s.Attr[2], s.Attr[3], s.Attr[4], s.Attr[5])
}

// Conv2D correlates images with filters: a thread has a result.
func Conv2D(s *Step) bool {
	s.Lines(s.Size(), convolutionText(s, s.InShape(0), s.InShape(1), s.Value.Shape)+`		const int q = i % Q, p = i / Q % P, o = i / ((index_t)P * Q) % (G * O), g = o / O;
		const index_t n = i / ((index_t)P * Q * G * O);
		const R *x = in0 + (n * G + g) * (index_t)C * H * W, *w = in1 + (index_t)o * C * A * B;
		double sum = 0.0;
		for (int c = 0; c < C; c++)
		for (int a = 0; a < A; a++) {
			int y = p * down + a * downBy - north;
			if (y < 0 || y >= H) continue;
			for (int b = 0; b < B; b++) {
				int z = q * right + b * rightBy - west;
				if (z >= 0 && z < W) sum += (double)x[((index_t)c * H + y) * W + z] * w[(c * A + a) * B + b];
			}
		}
		out[i] = (R)sum;`)
	return true
}

// ConvImages spreads results over images: a thread has an element of an image.
func ConvImages(s *Step) bool {
	s.Lines(s.Size(), convolutionText(s, s.Value.Shape, s.InShape(1), s.InShape(0))+`		const int z = i % W, y = i / W % H, c = i / ((index_t)W * H) % C, g = i / ((index_t)W * H * C) % G;
		const index_t n = i / ((index_t)W * H * C * G);
		const R *r = in0 + (n * G + g) * (index_t)O * P * Q, *w = in1 + ((index_t)g * O * C + c) * A * B;
		double sum = 0.0;
		for (int a = 0; a < A; a++) {
			int p = y + north - a * downBy;
			if (p < 0 || p % down || (p /= down) >= P) continue;
			for (int b = 0; b < B; b++) {
				int q = z + west - b * rightBy;
				if (q < 0 || q % right || (q /= right) >= Q) continue;
				for (int o = 0; o < O; o++) sum += (double)r[((index_t)o * P + p) * Q + q] * w[((index_t)o * C * A + a) * B + b];
			}
		}
		out[i] = (R)sum;`)
	return true
}

// ConvFilters sums over images and places: a thread has an element of a filter.
func ConvFilters(s *Step) bool {
	s.Lines(s.Size(), convolutionText(s, s.InShape(0), s.Value.Shape, s.InShape(1))+`		const int b = i % B, a = i / B % A, c = i / (A * B) % C, o = i / (A * B * (index_t)C), g = o / O;
		double sum = 0.0;
		for (int n = 0; n < N; n++) {
			const R *x = in0 + (((index_t)n * G + g) * C + c) * H * W, *r = in1 + ((index_t)n * G * O + o) * P * Q;
			for (int p = 0; p < P; p++) {
				int y = p * down + a * downBy - north;
				if (y < 0 || y >= H) continue;
				for (int q = 0; q < Q; q++) {
					int z = q * right + b * rightBy - west;
					if (z >= 0 && z < W) sum += (double)x[(index_t)y * W + z] * r[(index_t)p * Q + q];
				}
			}
		}
		out[i] = (R)sum;`)
	return true
}
