// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// unpacker reads the frames of a stack, as floats or as the bytes that stand in the file. It keeps frames that were unpacked before they were asked
// for, since they are in a chunk with one that was.
type unpacker[T float32 | byte] struct {
	stack  *stack
	frame  int                            // elements of a frame
	read   func(first int, dst []T) error // reads frames one after another; several goroutines call it
	first  int                            // the first frame that is kept
	kept   []T
	chunks int // that were unpacked together
}

// mostKept is the largest size of the frames that are kept, in bytes.
const mostKept = 256 << 20

// frames reads frames. Where a chunk has more than are asked for, as it may be for every tenth frame, it is unpacked once for all of its
// frames.
func (u *unpacker[T]) frames(first int, dst []T) error {
	st := u.stack
	k := st.set(first)
	chunk := min(st.sets[k].chunk(), st.sets[k].frames())
	var one T
	most := mostKept / int(unsafe.Sizeof(one)) / u.frame
	if len(dst) >= chunk*u.frame || chunk > most {
		return u.unpack(first, dst)
	}
	for at := first; len(dst) > 0; {
		if have := len(u.kept) / u.frame; at < u.first || at >= u.first+have {
			k := st.set(at)
			from := st.first[k] + (at-st.first[k])/chunk*chunk
			if u.chunks = 1 + u.chunks; from != u.first+have || have == 0 { // more in a row are unpacked together
				u.chunks = 1
			}
			u.chunks = min(u.chunks, runtime.GOMAXPROCS(0), max(most/chunk, 1))
			n := min(u.chunks*chunk, st.first[k]+st.sets[k].frames()-from)
			u.first, u.kept = from, slices.Grow(u.kept[:0], n*u.frame)[:n*u.frame]
			if err := u.unpack(from, u.kept); err != nil { // perhaps because of frames that nobody asked for
				u.kept = u.kept[:0]
				return u.unpack(at, dst)
			}
		}
		n := copy(dst, u.kept[(at-u.first)*u.frame:])
		dst, at = dst[n:], at+n/u.frame
	}
	return nil
}

// forget drops the frames that are kept.
func (u *unpacker[T]) forget() { u.first, u.kept, u.chunks = 0, nil, 0 }

// unpack reads frames, several at a time by goroutines of their own, since unpacking takes longer than reading.
func (u *unpacker[T]) unpack(first int, dst []T) error {
	n := len(dst) / u.frame
	each := 1
	if n > 0 {
		each = max(u.stack.sets[0].chunk(), min(n, (1<<20)/u.stack.pixels/4))
	}
	pieces := (n + each - 1) / each
	threads := max(min(pieces, runtime.GOMAXPROCS(0)), 1)
	errs := make([]error, threads)
	parallel.Do(threads, pieces, func(who, i int) {
		from, to := i*each, min((i+1)*each, n)
		if err := u.read(first+from, dst[from*u.frame:to*u.frame]); err != nil && errs[who] == nil {
			errs[who] = err
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
