// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic

import (
	"fmt"
	"math"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Sources returns the programs of the fixed set, with their PTX.
func Sources() []rtc.Source {
	all := []rtc.Source{{Name: "arrays.cu", Text: arrays()}, cuda.MapsSource("maps_f32.cu", list(cuda.Float32)...), cuda.MapsSource("maps_f64.cu", list(cuda.Float64)...)}
	for i := range all {
		all[i].PTX = ptx(all[i].Name)
	}
	return all
}

// sources makes the programs once.
var sources = sync.OnceValue(Sources)

// Kernels are the fixed set of kernels on one device. They are safe for concurrent use.
type Kernels struct {
	d    *cuda.Device
	mu   sync.Mutex
	maps map[string]*cuda.Elementwise
}

// Open returns the kernels of a device. They are compiled or loaded when they are first used.
func Open(d *cuda.Device) *Kernels { return &Kernels{d: d, maps: map[string]*cuda.Elementwise{}} }

// Device returns the device on which the kernels run.
func (k *Kernels) Device() *cuda.Device { return k.d }

// function returns a kernel of arrays.cu.
func (k *Kernels) function(name string) (*cuda.Function, error) {
	m, err := k.d.Compile(sources()[0])
	if err != nil {
		return nil, err
	}
	return m.Function(name)
}

// Map computes n elements of y from those of the inputs and the scalars by a map of the set: add, sub,
// mul, div, pow, mod, minbetween, maxbetween and the comparisons lt, lte, gt, gte, eq and ne of two
// arrays, with _ts of an array and a number, with _st of a number and an array, comparisons with _bool
// into bytes (lt_bool_ts); neg, inv, square, cube, abs, sign, relu, exp, tanh, log, log2, log10, sqrt,
// cbrt, invsqrt of one array; clamp of one array with a least and a largest number. Arrays begin at
// multiples of 16 bytes; y may be an input.
func (k *Kernels) Map(s *cuda.Stream, name string, t cuda.Type, n int, y cuda.Part, inputs []cuda.Part, scalars ...float64) error {
	e, err := k.elementwise(name, t)
	if err != nil {
		return err
	}
	return e.RunAt(s, n, y, inputs, scalars)
}

func (k *Kernels) elementwise(name string, t cuda.Type) (*cuda.Elementwise, error) {
	key := name + "_" + suffixes[t]
	k.mu.Lock()
	e := k.maps[key]
	k.mu.Unlock()
	if e != nil {
		return e, nil
	}
	m, err := find(name, t)
	if err != nil {
		return nil, err
	}
	mod, err := k.d.Compile(sources()[1+int(t)])
	if err != nil {
		return nil, err
	}
	if e, err = mod.Elementwise(m); err != nil {
		return nil, err
	}
	k.mu.Lock()
	k.maps[key] = e
	k.mu.Unlock()
	return e, nil
}

// Gather copies the elements of a layout, of 1, 4 or 8 bytes each, to a contiguous array. If that
// exchanges rows and columns, it goes through tiles in shared memory.
func (k *Kernels) Gather(s *cuda.Stream, bytes int, y, x cuda.Part, from Layout) error {
	t, ok := from.merged().transposed()
	if !ok || bytes == 1 {
		return k.move(s, "gather", bytes, y, x, from)
	}
	f, err := k.function(fmt.Sprintf("transpose_%d", bytes))
	if err != nil {
		return err
	}
	tiles := t.batches * ((t.rows + 31) / 32) * ((t.columns + 31) / 32)
	return f.Launch(s, cuda.Dim{X: min(tiles, 1<<20)}, cuda.Dim{X: 256}, 0, x, y, int64(t.batches), int64(t.rows), int64(t.columns), int64(t.batchStride), int64(t.columnStride))
}

// Scatter copies a contiguous array to the elements of a layout.
func (k *Kernels) Scatter(s *cuda.Stream, bytes int, y, x cuda.Part, to Layout) error {
	return k.move(s, "scatter", bytes, y, x, to)
}

func (k *Kernels) move(s *cuda.Stream, what string, bytes int, y, x cuda.Part, l Layout) error {
	l = l.merged()
	raw, err := l.bytes()
	if err != nil {
		return err
	}
	f, err := k.function(fmt.Sprintf("%s_%d", what, bytes))
	if err != nil {
		return err
	}
	n := l.size()
	return f.Launch(s, k.d.Waves(n, 256), cuda.Dim{X: 256}, 0, x, y, int64(n), raw)
}

// Fill sets n elements of 4 or 8 bytes to the given bits.
func (k *Kernels) Fill(s *cuda.Stream, bytes int, y cuda.Part, n int, bits uint64) error {
	f, err := k.function(fmt.Sprintf("fill_%d", bytes))
	if err != nil {
		return err
	}
	var value any = bits
	switch bytes {
	case 1:
		value = uint8(bits)
	case 4:
		value = uint32(bits)
	}
	return f.Launch(s, k.d.Waves(n, 256), cuda.Dim{X: 256}, 0, y, int64(n), value)
}

// shortRow is the longest row that one thread reduces: a block would have most of its threads idle.
const shortRow = 32

// Reduce reduces the middle axis of a contiguous array [outer, length, inner] to y [outer, inner]
// by sum, prod, max, min, argmax or argmin; the results of the last two are int64. The maximum,
// minimum, argmax or argmin of no elements is an error.
func (k *Kernels) Reduce(s *cuda.Stream, op string, t cuda.Type, y, x cuda.Part, outer, length, inner int) error {
	if length == 0 && op != "sum" && op != "prod" {
		return fmt.Errorf("basic: there is no %s of 0 elements: want at least one", op)
	}
	results := outer * inner
	switch {
	case results == 0:
		return nil
	case length == 0 && op == "sum":
		return k.Fill(s, t.Size(), y, results, 0)
	case length == 0:
		return k.Fill(s, t.Size(), y, results, one(t))
	}
	kind, work, room := "_rows", outer, 256
	columns := inner > 1 || length <= shortRow
	if columns {
		kind, work, room = "_columns", (results+255)/256, 1
	}
	pieces := k.pieces(work, length/room)
	f, err := k.function(op + "_" + suffixes[t] + kind)
	if err != nil {
		return err
	}
	grid := cuda.Dim{X: min(outer*pieces, 1<<20)}
	if columns {
		grid = k.d.Waves(results*pieces, 256)
	}
	sizes := []any{int64(outer), int64(length), int64(inner), int64(pieces)}
	if pieces == 1 {
		return f.Launch(s, grid, cuda.Dim{X: 256}, 0, append([]any{x, y, nil}, sizes...)...)
	}
	part, err := s.Alloc(16 * results * pieces)
	if err != nil {
		return err
	}
	defer part.Free()
	if err := f.Launch(s, grid, cuda.Dim{X: 256}, 0, append([]any{x, y, part}, sizes...)...); err != nil {
		return err
	}
	if f, err = k.function(op + "_" + suffixes[t] + "_finish"); err != nil {
		return err
	}
	return f.Launch(s, k.d.Waves(results, 256), cuda.Dim{X: 256}, 0, part, y, int64(results), int64(pieces))
}

// one returns the bits of 1.
func one(t cuda.Type) uint64 {
	if t == cuda.Float32 {
		return uint64(math.Float32bits(1))
	}
	return math.Float64bits(1)
}

// pieces returns into how many parts to cut an axis so that blocks occupy the device, given the blocks
// that there are without cutting and how many parts are worth it. It depends on the device and the
// lengths alone.
func (k *Kernels) pieces(blocks, most int) int {
	want := 4 * max(k.d.Info().Multiprocessors, 1)
	return max(1, min(want/max(blocks, 1), most/16, 1024))
}

// Matrix is a matrix in a buffer, with the steps in elements between rows and between columns.
type Matrix struct {
	Part                    cuda.Part
	Rows, Columns           int
	RowStride, ColumnStride int
}

// MatMul computes c = a b. If c has few tiles, is in row-major order without gaps, and the sums are
// long, the sums are divided into parts that are added up in float64.
func (k *Kernels) MatMul(s *cuda.Stream, t cuda.Type, c, a, b Matrix) error {
	if a.Columns != b.Rows || c.Rows != a.Rows || c.Columns != b.Columns {
		return fmt.Errorf("basic: cannot write the product of a %d x %d and a %d x %d matrix to a %d x %d matrix: want shapes that match", a.Rows, a.Columns, b.Rows, b.Columns, c.Rows, c.Columns)
	}
	if a.Columns == 0 {
		return fmt.Errorf("basic: the product of %d x 0 and 0 x %d matrices has no terms: fill the result with 0 instead", a.Rows, b.Columns)
	}
	tiles := func(size int) int { return (c.Rows + size - 1) / size * ((c.Columns + size - 1) / size) }
	name, jobs := "matmul_", tiles(64)
	if t == cuda.Float32 && tiles(128) >= 64 {
		name, jobs = "matmul_large_", tiles(128)
	}
	f, err := k.function(name + suffixes[t])
	if err != nil {
		return err
	}
	multiply := func(to cuda.Part, row, column, parts int) error {
		share := (a.Columns + parts - 1) / parts
		return f.Launch(s, cuda.Dim{X: min(jobs*parts, 1<<20)}, cuda.Dim{X: 256}, 0, a.Part, b.Part, to, int64(c.Rows), int64(c.Columns), int64(a.Columns),
			int64(a.RowStride), int64(a.ColumnStride), int64(b.RowStride), int64(b.ColumnStride), int64(row), int64(column), int64(share), int64(c.Rows*c.Columns))
	}
	parts := min(128/jobs, a.Columns/256)
	if parts < 2 || c.ColumnStride != 1 || c.RowStride != c.Columns {
		return multiply(c.Part, c.RowStride, c.ColumnStride, 1)
	}
	share := (a.Columns + parts - 1) / parts
	parts = (a.Columns + share - 1) / share
	work, err := s.Alloc(parts * c.Rows * c.Columns * t.Size())
	if err != nil {
		return err
	}
	defer work.Free()
	if err := multiply(work.At(0), c.Columns, 1, parts); err != nil {
		return err
	}
	return k.Reduce(s, "sum", t, c.Part, work.At(0), 1, parts, c.Rows*c.Columns)
}

// MatVec computes y = a x for vectors with the given steps.
func (k *Kernels) MatVec(s *cuda.Stream, t cuda.Type, y cuda.Part, yStride int, a Matrix, x cuda.Part, xStride int) error {
	f, err := k.function("matvec_" + suffixes[t])
	if err != nil {
		return err
	}
	return f.Launch(s, cuda.Dim{X: min(a.Rows, 1<<20)}, cuda.Dim{X: 256}, 0, a.Part, x, y, int64(a.Rows), int64(a.Columns),
		int64(a.RowStride), int64(a.ColumnStride), int64(xStride), int64(yStride))
}
