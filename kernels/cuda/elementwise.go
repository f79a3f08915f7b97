// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Type is the type of numbers in a buffer.
type Type int

// The types that Map supports.
const (
	Float32 Type = iota
	Float64
)

// Size returns the size of one number in bytes.
func (t Type) Size() int { return 4 << t }

// C returns the name of the type in CUDA C.
func (t Type) C() string { return [...]string{"float", "double"}[t] }

// Map is an elementwise function as text: y[i] = Expression of the inputs' elements i. The
// expression is written like that of an operation in package autodiff, in terms of x, y and z;
// Helper holds functions that it calls.
type Map struct {
	Name    string   // name of the kernel: letters, digits and underscores
	Type    Type     // type of the inputs and the output
	Inputs  []string // names of the inputs in the expression, such as x and y
	Scalars []string // names of numbers in the expression that are the same for all elements
	// Bool makes the output bytes, 0 or 1, instead of numbers of Type.
	Bool       bool
	Expression string
	Helper     string
}

// Elementwise is a Map that is ready to run on a device.
type Elementwise struct {
	d      *Device
	m      Map
	kernel *Function
}

// Source returns the CUDA program of the map.
func (m Map) Source() rtc.Source { return MapsSource(m.Name+".cu", m) }

// MapsSource returns one program with many maps and the helpers of all of them, in their order.
func MapsSource(name string, maps ...Map) rtc.Source {
	var b strings.Builder
	b.WriteString(rtc.Prelude)
	b.WriteString(groupsOfCalls)
	for _, m := range maps {
		b.WriteString(m.Helper)
	}
	for _, t := range []Type{Float32, Float64} {
		if slices.ContainsFunc(maps, func(m Map) bool { return m.Type == t }) {
			fmt.Fprintf(&b, "struct __align__(16) Group_%[1]s { %[1]s at[%[2]d]; };\n", t.C(), 16/t.Size())
			fmt.Fprintf(&b, "struct __align__(%[2]d) Bools_%[1]s { unsigned char at[%[2]d]; };\n", t.C(), 16/t.Size())
		}
	}
	for _, m := range maps {
		m.write(&b)
	}
	return rtc.Source{Name: name, Text: b.String()}
}

// groupsOfCalls lets a compiler that inlines long functions of mathematics do without groups where an
// expression calls one, so that it is in the kernel once and not five times.
const groupsOfCalls = `#ifndef GROUPS_OF_CALLS
#define GROUPS_OF_CALLS(n) (n)
#endif
`

// write appends the kernel. Threads take groups of 16 bytes, which is what a device loads at once;
// what is left at the end is done one by one.
func (m Map) write(b *strings.Builder) {
	t, group := m.Type.C(), 16/m.Type.Size()
	out, groups := t, "Group_"+t
	if m.Bool {
		out, groups = "unsigned char", "Bools_"+t
	}
	var declared, loaded, single, packed []string
	for i, name := range m.Inputs {
		declared = append(declared, t+" "+name)
		loaded = append(loaded, fmt.Sprintf("const %s* a%d", t, i))
		single = append(single, fmt.Sprintf("a%d[i]", i))
		packed = append(packed, fmt.Sprintf("p%d.at[k]", i))
	}
	loaded = append(loaded, out+"* out", "long long n")
	for i, name := range m.Scalars {
		arg := fmt.Sprintf("b%d", i)
		declared, loaded = append(declared, t+" "+name), append(loaded, t+" "+arg)
		single, packed = append(single, arg), append(packed, arg)
	}
	fmt.Fprintf(b, "static __device__ __forceinline__ %s value_%s(%s) { return (%s)(%s); }\n", out, m.Name, strings.Join(declared, ", "), out, m.Expression)
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(256) %s(%s) {\n", m.Name, strings.Join(loaded, ", "))
	b.WriteString("  long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;\n")
	count := fmt.Sprintf("n / %d", group)
	if strings.Contains(m.Expression, "(") {
		count = "GROUPS_OF_CALLS(" + count + ")"
	}
	fmt.Fprintf(b, "  long long groups = %s;\n  for (long long g = first; g < groups; g += step) {\n", count)
	for i := range m.Inputs {
		fmt.Fprintf(b, "    Group_%s p%d = ((const Group_%s*)a%d)[g];\n", t, i, t, i)
	}
	fmt.Fprintf(b, "    %s r;\n", groups)
	fmt.Fprintf(b, "#pragma unroll\n    for (int k = 0; k < %d; k++) r.at[k] = value_%s(%s);\n", group, m.Name, strings.Join(packed, ", "))
	fmt.Fprintf(b, "    ((%s*)out)[g] = r;\n  }\n", groups)
	fmt.Fprintf(b, "  for (long long i = groups * %d + first; i < n; i += step) out[i] = value_%s(%s);\n}\n", group, m.Name, strings.Join(single, ", "))
}

// Elementwise compiles a map.
func (d *Device) Elementwise(m Map) (*Elementwise, error) {
	mod, err := d.Compile(m.Source())
	if err != nil {
		return nil, err
	}
	return mod.Elementwise(m)
}

// Elementwise returns a map of a module that was compiled from MapsSource.
func (m *Module) Elementwise(of Map) (*Elementwise, error) {
	f, err := m.Function(of.Name)
	if err != nil {
		return nil, err
	}
	return &Elementwise{m.d, of, f}, nil
}

// Run computes the first n elements of dst in the order of a stream. The destination may be one of
// the inputs.
func (e *Elementwise) Run(s *Stream, n int, dst *Buffer, inputs ...*Buffer) error {
	parts := make([]Part, len(inputs))
	for i, b := range inputs {
		parts[i] = b.At(0)
	}
	return e.RunAt(s, n, dst.At(0), parts, nil)
}

// RunAt is Run for arrays that begin anywhere in buffers, at multiples of 16 bytes, and for maps
// with scalars, which are rounded to the type of the map.
func (e *Elementwise) RunAt(s *Stream, n int, dst Part, inputs []Part, scalars []float64) error {
	if len(inputs) != len(e.m.Inputs) || len(scalars) != len(e.m.Scalars) {
		return fmt.Errorf("%w: %s takes %d inputs and %d scalars, but was given %d and %d: pass as many as the map declares", ErrArgument, e.m.Name, len(e.m.Inputs), len(e.m.Scalars), len(inputs), len(scalars))
	}
	if n < 0 {
		return fmt.Errorf("%w: %s cannot have %d elements: want 0 or more", ErrArgument, e.m.Name, n)
	}
	args := make([]any, 0, len(inputs)+len(scalars)+2)
	for i, p := range append(inputs[:len(inputs):len(inputs)], dst) {
		size := e.m.Type.Size()
		if e.m.Bool && i == len(inputs) {
			size = 1
		}
		if err := p.Buffer.usable(e.d, p.Offset, n*size); err != nil {
			return fmt.Errorf("%s: buffer %d of %d elements: %w", e.m.Name, i, n, err)
		}
		if p.Offset%16 != 0 {
			return fmt.Errorf("%w: %s: buffer %d begins at byte %d: want a multiple of 16", ErrArgument, e.m.Name, i, p.Offset)
		}
		args = append(args, p)
	}
	if n == 0 {
		return nil
	}
	args = append(args, int64(n))
	for _, v := range scalars {
		if e.m.Type == Float32 {
			args = append(args, float32(v))
		} else {
			args = append(args, v)
		}
	}
	group := 16 / e.m.Type.Size()
	return e.kernel.Launch(s, e.d.Waves((n+group-1)/group, 256), Dim{X: 256}, 0, args...)
}

// Waves returns a grid of blocks for n pieces of work that strides over them: at most 32 blocks for
// each multiprocessor, which is four times what it holds at once.
func (d *Device) Waves(n, threads int) Dim {
	g := Blocks(n, threads)
	g.X = min(g.X, 32*max(d.info.Multiprocessors, 1))
	return g
}
