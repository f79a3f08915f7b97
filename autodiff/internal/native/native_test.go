// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

var (
	exp   = &compiler.Op{Name: "exp", Arity: 1, F1: math.Exp}
	hypot = &compiler.Op{Name: "hypot", Arity: 2, F2: math.Hypot}
	fma   = &compiler.Op{Name: "fma", Arity: 3, F3: math.FMA}
)

// random returns a list of n entries, of which some load what others store, and a few call functions of Go; half of them on lanes.
func random(r *rand.Rand, n, memory int, lanes bool) *List {
	l := &List{}
	values := []Value{l.Constant(0.5), l.Load(First, 0)}
	pick := func() Value {
		if r.IntN(3) > 0 {
			return values[max(0, len(values)-1-r.IntN(4))]
		}
		return values[r.IntN(len(values))]
	}
	add := func(v Value) { values = append(values, v) }
	number := func() Value {
		v := pick()
		for l.ops[v].lanes {
			v = pick()
		}
		return v
	}
	for range n {
		switch k, w := r.IntN(100), 1+r.IntN(Lanes); {
		case lanes && k < 12:
			add(l.LoadLanes(Memory(r.IntN(2)), r.IntN(memory-w), w))
		case lanes && k < 20:
			l.StoreLanes(Memory(r.IntN(2)), r.IntN(memory-w), w, l.Spread(pick()))
		case lanes && k < 22:
			add(l.Array([]float64{1, r.NormFloat64(), 3}))
		case lanes && k < 25:
			add(l.Total(l.Spread(pick()), w))
		case k < 15:
			add(l.Load(Memory(r.IntN(2)), r.IntN(memory)))
		case k < 30:
			l.Store(Memory(r.IntN(2)), r.IntN(memory), number())
		case k < 35:
			add(l.Constant(r.NormFloat64()))
		case k < 37:
			add(l.Call(exp, number()))
		case k < 38:
			add(l.Call(hypot, number(), number()))
		case k < 39:
			add(l.Call(fma, number(), number(), number()))
		case k < 42:
			add(l.Choose(number(), number(), number()))
		case k < 45:
			name := []string{"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}[r.IntN(6)]
			truth := l.Apply(&compiler.Op{Name: name, Arity: 2, Truth: true}, number(), number())
			if add(truth); r.IntN(2) == 0 {
				truth = number()
			}
			add(l.Apply(&compiler.Op{Code: compiler.Where, Arity: 3}, truth, number(), number()))
		case k < 50:
			add(l.Do([]Operation{Neg, Abs, Sqrt}[r.IntN(3)], pick()))
		default:
			add(l.Do([]Operation{Add, Sub, Mul, Div}[r.IntN(4)], pick(), pick()))
		}
	}
	return l
}

// interpret runs the list on numbers of eight lanes; a single number has them all equal.
func (l *List) interpret(first, second []float64) {
	v := make([][Lanes]float64, len(l.ops))
	for i := range l.ops {
		o := &l.ops[i]
		from := [][]float64{first, second}[o.mem]
		for k := range Lanes {
			v[i][k] = l.lane(o, v[o.in[0]][k], v[o.in[1]][k], v[o.in[2]][k], from, int32(k))
		}
		switch o.do {
		case store:
			from[o.at] = v[o.in[0]][0]
		case storeLanes:
			copy(from[o.at:o.at+int32(o.n)], v[o.in[0]][:])
		case total:
			x := v[o.in[0]]
			clear(x[o.n:])
			sum := ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
			for k := range Lanes {
				v[i][k] = sum
			}
		}
	}
}

// lane computes lane k of an entry from those of its operands.
func (l *List) lane(o *entry, x, y, z float64, from []float64, k int32) float64 {
	switch o.do {
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div:
		return x / y
	case Neg:
		return -x
	case Sqrt:
		return math.Sqrt(x)
	case Abs:
		return math.Abs(x)
	case compare:
		if map[int32]bool{equal: x == y, notEqual: x != y, below: x < y, notAbove: x <= y, notBelow: x >= y, above: x > y}[o.at] {
			return math.Float64frombits(math.MaxUint64)
		}
		return 0
	case and:
		return math.Float64frombits(math.Float64bits(x) & math.Float64bits(y))
	case choose:
		if math.Signbit(x) {
			return y
		}
		return z
	case constant:
		return o.x
	case load:
		return from[o.at]
	case array:
		return math.Float64frombits(l.arrays[o.at][k])
	case loadLanes:
		if k < int32(o.n) {
			return from[o.at+k]
		}
		return 0
	case call:
		switch o.operands {
		case 1:
			return o.f.F1(x)
		case 2:
			return o.f.F2(x, y)
		}
		return o.f.F3(x, y, z)
	}
	return x
}

// Machine code has the bits of the interpreter, in lists that need more numbers than there are registers, and whatever runs beside it.
func TestSameBits(t *testing.T) {
	if !usable() {
		t.Skip("there is no machine code on this machine")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 300 {
		memory := 10 + r.IntN(60)
		l := random(r, 5+r.IntN(400), memory, k%2 == 0 && HasLanes())
		first, second := make([]float64, memory), make([]float64, memory)
		for i := range first {
			first[i], second[i] = r.NormFloat64(), r.NormFloat64()
		}
		a, b := slices.Clone(first), slices.Clone(second)
		l.interpret(a, b)
		c := Compile(l)
		c.Run(c.Scratch(), first, second)
		for i := range a {
			if !same(a[i], first[i]) || !same(b[i], second[i]) {
				t.Fatalf("list %d: elements %d are %v and %v, want %v and %v", k, i, first[i], second[i], a[i], b[i])
			}
		}
	}
}

func same(x, y float64) bool { return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y }

// The collector frees the code of lists that are gone, and collections and profiles do not disturb code that runs.
func TestCollections(t *testing.T) {
	if !usable() {
		t.Skip("there is no machine code on this machine")
	}
	l := &List{}
	x := l.Load(First, 0)
	for range 2000 {
		x = l.Do(Add, x, l.Constant(1))
	}
	l.Store(First, 1, x)
	done := make(chan bool)
	go func() {
		for range 10 {
			Compile(l)
			runtime.GC()
		}
		close(done)
	}()
	c := Compile(l)
	scratch, memory := c.Scratch(), make([]float64, 2)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if memory[0], memory[1] = 3, 0; true {
			c.Run(scratch, memory, nil)
		}
		if memory[1] != 2003 {
			t.Fatalf("the sum is %g, want 2003", memory[1])
		}
	}
}

func BenchmarkList(b *testing.B) {
	if !usable() {
		b.Skip("there is no machine code on this machine")
	}
	l := &List{}
	x, y, z := l.Load(First, 0), l.Load(First, 1), l.Load(First, 2)
	for range 30 {
		x, y, z = l.Do(Add, l.Do(Mul, x, y), z), l.Do(Sub, y, l.Do(Mul, x, l.Constant(0.001))), l.Do(Mul, z, l.Constant(0.5))
	}
	l.Store(First, 3, x)
	l.Store(First, 4, l.Do(Add, y, z))
	memory := []float64{1, 2, 3, 0, 0}
	c := Compile(l)
	b.Run("machine", func(b *testing.B) {
		scratch := c.Scratch()
		for b.Loop() {
			c.Run(scratch, memory, nil)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*l.Len()), "ns/op-of-list")
	})
	empty := &List{}
	empty.Store(First, 0, empty.Constant(1))
	e := Compile(empty)
	b.Run("enter", func(b *testing.B) {
		scratch := e.Scratch()
		for b.Loop() {
			e.Run(scratch, memory, nil)
		}
	})
}
