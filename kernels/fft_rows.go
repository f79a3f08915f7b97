// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// loadRows copies rows of n complex numbers, length elements apart, to places of a block.
func (k *fftKernels[T]) loadRows(s *fftScratch[T], w, src []T, length, count, n int, pos []int) {
	v, size, piece := k.lanes, int(unsafe.Sizeof(T(0))), pieceLength[T]()
	src, length = k.filled(s, src, length, count, 2*n)
	if n >= piece {
		k.rowsIn(&w[0], &src[0], length*size, &pos[0], n/piece)
	}
	for j := n / piece * piece; j < n; j++ {
		to := w[2*v*pos[j]:]
		for lane, line := range k.line {
			at := line*length + 2*j
			to[lane], to[v+lane] = src[at], src[at+1]
		}
	}
}

// storeRows copies n elements of a block to rows, length elements apart.
func (k *fftKernels[T]) storeRows(s *fftScratch[T], dst []T, length, count int, w []T, n int) {
	v, size, piece := k.lanes, int(unsafe.Sizeof(T(0))), pieceLength[T]()
	to, pitch := k.room(s, dst, length, count, 2*n)
	if n >= piece {
		k.rowsOut(&to[0], pitch*size, &w[0], n/piece)
	}
	for j := n / piece * piece; j < n; j++ {
		from := w[2*v*j:]
		for lane, line := range k.line {
			at := line*pitch + 2*j
			to[at], to[at+1] = from[lane], from[v+lane]
		}
	}
	k.emptied(s, dst, length, count, 2*n)
}

// loadRealRows copies rows of n real numbers to places of a block, as complex ones.
func (k *fftKernels[T]) loadRealRows(s *fftScratch[T], w, src []T, count, n int, pos []int) {
	v, size, piece := k.lanes, int(unsafe.Sizeof(T(0))), 2*pieceLength[T]()
	src, length := k.filled(s, src, n, count, n)
	if n >= piece {
		k.realRowsIn(&w[0], &src[0], length*size, &pos[0], n/piece)
	}
	for j := n / piece * piece; j < n; j++ {
		to := w[2*v*pos[j]:]
		for lane, line := range k.line {
			to[lane], to[v+lane] = src[line*length+j], 0
		}
	}
}

// storeRealRows copies the real parts of n elements of a block to rows of n numbers.
func (k *fftKernels[T]) storeRealRows(s *fftScratch[T], dst []T, count int, w []T, n int) {
	v, size, piece := k.lanes, int(unsafe.Sizeof(T(0))), 2*pieceLength[T]()
	to, pitch := k.room(s, dst, n, count, n)
	if n >= piece {
		k.realRowsOut(&to[0], pitch*size, &w[0], n/piece)
	}
	for j := n / piece * piece; j < n; j++ {
		for lane, line := range k.line {
			to[line*pitch+j] = w[2*v*j+lane]
		}
	}
	k.emptied(s, dst, n, count, n)
}

// filled returns rows of n numbers for every lane: src itself, or a copy padded with rows of zeros.
func (k *fftKernels[T]) filled(s *fftScratch[T], src []T, length, count, n int) ([]T, int) {
	if count == k.lanes {
		return src, length
	}
	stage, _ := k.room(s, nil, 0, count, n)
	for i := range count {
		copy(stage[i*n:(i+1)*n], src[i*length:])
	}
	clear(stage[count*n : k.lanes*n])
	return stage, n
}

// room returns memory for rows of n numbers of every lane: dst itself, or the stage, which emptied
// copies to dst.
func (k *fftKernels[T]) room(s *fftScratch[T], dst []T, length, count, n int) ([]T, int) {
	if count == k.lanes {
		return dst, length
	}
	s.stage = aligned(s.stage, k.lanes*n)
	return s.stage, n
}

func (k *fftKernels[T]) emptied(s *fftScratch[T], dst []T, length, count, n int) {
	if count == k.lanes {
		return
	}
	for i := range count {
		copy(dst[i*length:i*length+n], s.stage[i*n:])
	}
}

// pieceLength returns how many complex numbers fit into 16 bytes.
func pieceLength[T float]() int { return 8 / int(unsafe.Sizeof(T(0))) }
