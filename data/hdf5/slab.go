// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// runs splits a block of an array into runs that are contiguous both in the array and in the block,
// and calls do with the byte offset in each and the length. Every axis of count is positive.
func runs(dims, offset, count []uint64, size uint64, do func(from, to, n uint64) error) error {
	last := len(dims)
	run := size
	for last > 0 { // axes taken whole join the run
		last--
		run *= count[last]
		if count[last] != dims[last] {
			break
		}
	}
	strides := make([]uint64, len(dims))
	step := size
	start := uint64(0)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = step
		start += offset[i] * step
		step *= dims[i]
	}
	return odometer(count[:last], func(at []uint64, i uint64) error {
		from := start
		for k, v := range at {
			from += v * strides[k]
		}
		return do(from, i*run, run)
	})
}

// odometer visits all positions of a block, last axis fastest.
func odometer(count []uint64, do func(at []uint64, i uint64) error) error {
	at := make([]uint64, len(count))
	for i := uint64(0); ; i++ {
		if err := do(at, i); err != nil {
			return err
		}
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < count[k] {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return nil
		}
	}
}
