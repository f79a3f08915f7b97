package assembly

import "slices"

// top returns the k largest of x in order, among equals the lower number first, with
// the k-th and the next largest value (NaN-free; 0 where there is none).
func top(x []float32, k int) (winners []int32, kth, next float64) {
	better := func(a, b int32) bool { return x[a] > x[b] || x[a] == x[b] && a < b }
	heap := make([]int32, 0, k+1) // the worst of the best first
	down := func(i int) {
		for {
			c := 2*i + 1
			if c >= len(heap) {
				return
			}
			if c+1 < len(heap) && better(heap[c], heap[c+1]) {
				c++
			}
			if !better(heap[i], heap[c]) {
				return
			}
			heap[i], heap[c] = heap[c], heap[i]
			i = c
		}
	}
	m := min(k+1, len(x))
	for j := range m {
		heap = append(heap, int32(j))
	}
	for i := m/2 - 1; i >= 0; i-- {
		down(i)
	}
	for j := m; j < len(x); j++ {
		if x[j] > x[heap[0]] { // a later number loses to its equals
			heap[0] = int32(j)
			down(0)
		}
	}
	slices.SortFunc(heap, func(a, b int32) int {
		if better(a, b) {
			return -1
		}
		return 1
	})
	if len(heap) > k {
		next = float64(x[heap[k]])
		heap = heap[:k]
	}
	return heap, float64(x[heap[k-1]]), next
}
