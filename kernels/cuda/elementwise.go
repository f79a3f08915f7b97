package cuda

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Type is the type of numbers in a buffer.
type Type int

// The types that Map knows.
const (
	Float32 Type = iota
	Float64
)

// Size returns the bytes of one number.
func (t Type) Size() int { return 4 << t }

// C returns the name of the type in CUDA C.
func (t Type) C() string { return [...]string{"float", "double"}[t] }

// Map is an elementwise function as text: y[i] = Expression of the inputs' elements i. The expression
// is that of an operation in package autodiff, of x, y and z; Helper holds functions that it calls.
type Map struct {
	Name       string   // of the kernel; letters, digits and underscores
	Type       Type     // of inputs and output
	Inputs     []string // names in the expression, such as x and y
	Expression string
	Helper     string
}

// Elementwise is a Map that is ready to run on a device.
type Elementwise struct {
	d      *Device
	m      Map
	kernel *Function
}

// Source returns the program of the map. Threads take groups of 16 bytes, which is what a device
// loads at once; what is left at the end is done one by one.
func (m Map) Source() rtc.Source {
	t, group := m.Type.C(), 16/m.Type.Size()
	var b strings.Builder
	b.WriteString(rtc.Prelude + m.Helper)
	var declared, loaded, single, packed []string
	for i, name := range m.Inputs {
		declared = append(declared, t+" "+name)
		loaded = append(loaded, fmt.Sprintf("const %s* a%d", t, i))
		single = append(single, fmt.Sprintf("a%d[i]", i))
		packed = append(packed, fmt.Sprintf("p%d.at[k]", i))
	}
	fmt.Fprintf(&b, "struct __align__(16) Group { %s at[%d]; };\n", t, group)
	fmt.Fprintf(&b, "static __device__ __forceinline__ %s value(%s) { return (%s)(%s); }\n", t, strings.Join(declared, ", "), t, m.Expression)
	fmt.Fprintf(&b, "extern \"C\" __global__ void __launch_bounds__(256) %s(%s) {\n", m.Name, strings.Join(append(loaded, t+"* y", "long long n"), ", "))
	b.WriteString("  long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;\n")
	fmt.Fprintf(&b, "  for (long long g = first; g < n / %d; g += step) {\n", group)
	for i := range m.Inputs {
		fmt.Fprintf(&b, "    Group p%d = ((const Group*)a%d)[g];\n", i, i)
	}
	b.WriteString("    Group r;\n")
	fmt.Fprintf(&b, "    for (int k = 0; k < %d; k++) r.at[k] = value(%s);\n", group, strings.Join(packed, ", "))
	b.WriteString("    ((Group*)y)[g] = r;\n  }\n")
	fmt.Fprintf(&b, "  for (long long i = n / %d * %d + first; i < n; i += step) y[i] = value(%s);\n}\n", group, group, strings.Join(single, ", "))
	return rtc.Source{Name: m.Name + ".cu", Text: b.String()}
}

// Elementwise compiles a map.
func (d *Device) Elementwise(m Map) (*Elementwise, error) {
	mod, err := d.Compile(m.Source())
	if err != nil {
		return nil, err
	}
	f, err := mod.Function(m.Name)
	if err != nil {
		return nil, err
	}
	return &Elementwise{d, m, f}, nil
}

// Run computes the first n elements of dst in the order of a stream. The destination may be one of
// the inputs.
func (e *Elementwise) Run(s *Stream, n int, dst *Buffer, inputs ...*Buffer) error {
	if len(inputs) != len(e.m.Inputs) {
		return fmt.Errorf("%w: %s takes %d inputs, and was given %d", ErrArgument, e.m.Name, len(e.m.Inputs), len(inputs))
	}
	if n < 0 {
		return fmt.Errorf("%w: %s of %d elements: want 0 or more", ErrArgument, e.m.Name, n)
	}
	args := make([]any, 0, len(inputs)+2)
	for i, b := range append(inputs[:len(inputs):len(inputs)], dst) {
		if err := b.usable(e.d, 0, n*e.m.Type.Size()); err != nil {
			return fmt.Errorf("%s: buffer %d of %d elements: %w", e.m.Name, i, n, err)
		}
		args = append(args, b)
	}
	if n == 0 {
		return nil
	}
	group := 16 / e.m.Type.Size()
	return e.kernel.Launch(s, e.d.waves((n+group-1)/group, 256), Dim{X: 256}, 0, append(args, int64(n))...)
}

// waves returns a grid of blocks for n pieces of work that strides over them: at most 32 blocks for
// each multiprocessor, which is four times what it holds at once.
func (d *Device) waves(n, threads int) Dim {
	g := Blocks(n, threads)
	g.X = min(g.X, 32*max(d.info.Multiprocessors, 1))
	return g
}
