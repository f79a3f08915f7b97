package assembly

import "slices"

// top returns the m largest of x in order, among equals the lower number first.
//
// On a device: a histogram of the inputs, whose bin of the m-th gives the threshold,
// and a compaction in order of number, so that ties fall as here.
func top(x []float64, m int) []int32 {
	better := func(a, b int32) bool { return x[a] > x[b] || x[a] == x[b] && a < b }
	heap := make([]int32, 0, m) // the worst of the best first
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
	for j := range m {
		heap = append(heap, int32(j))
	}
	for i := m/2 - 1; i >= 0; i-- {
		down(i)
	}
	if m == 0 {
		return nil
	}
	least := x[heap[0]]
	for j, v := range x[m:] {
		if v > least { // a later number loses to its equals
			heap[0] = int32(m + j)
			down(0)
			least = x[heap[0]]
		}
	}
	slices.SortFunc(heap, func(a, b int32) int {
		if better(a, b) {
			return -1
		}
		return 1
	})
	return heap
}
