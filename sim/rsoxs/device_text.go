// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// The CUDA C of the simulator; what depends on the materials is written in front of it.
var (
	//go:embed cu/fields.cu
	fieldsText string
	//go:embed cu/optics.cuh
	opticsText string
	//go:embed cu/detector.cu
	detectorText string
	//go:embed cu/reflect.cu
	reflectText string
)

// form is what kernels must know of a material: how it is given, and the types of its arrays, of the
// derivatives by them and of their changes.
type form struct {
	vector bool
	types  []tensor.DType // Vfrac or Vfrac, S, Theta, Psi or Align, Unaligned
	grads  []tensor.DType
	change []tensor.DType // nil if the fields themselves are computed
}

// fields returns the number of fields of a material.
func (f *form) fields() int {
	if len(f.types) == 1 {
		return 1
	}
	return anisotropic
}

// formOf returns the form of a material.
func formOf(m *Material) (f form) {
	f.vector = m.vector()
	for _, a := range m.fields() {
		f.types = append(f.types, (*a.at).DType())
		f.grads = append(f.grads, derivativeType((*a.at).DType()))
	}
	return f
}

// forms are those of all materials.
type forms []form

func (l forms) fields() (n int) {
	for i := range l {
		n += l[i].fields()
	}
	return n
}

func (l forms) arrays() (n int) {
	for i := range l {
		n += len(l[i].types)
	}
	return n
}

// pairs returns the number of arrays of complex numbers that hold all fields of a slice.
func (l forms) pairs() int { return (l.fields() + 1) / 2 }

// cTypes are the names of types in CUDA C.
var cTypes = map[tensor.DType]string{tensor.Float64: "double", tensor.Float32: "float", tensor.Float16: "eu_f16"}

// prelude defines the types and numbers that all kernels share.
func (l forms) prelude(bits int) string {
	real, align := "float", 8
	if bits == 64 {
		real, align = "double", 16
	}
	return fmt.Sprintf(`typedef %s R;
typedef long long index_t;
struct __align__(%d) pair { R x, y; };
constexpr int FIELDS = %d, PAIRS = %d, ARRAYS = %d, MATERIALS = %d, VIEW = %d, TURN = %d;
struct Arrays%[5]d { const void *at[ARRAYS]; };
struct Targets%[5]d { void *at[ARRAYS]; };
typedef Arrays%[5]d Arrays;
typedef Targets%[5]d Targets;
`, real, align, l.fields(), l.pairs(), l.arrays(), len(l), viewSize(len(l)), turnSize)
}

// fieldsProgram returns the text about the fields.
func (l forms) fieldsProgram(bits int) string {
	var makes, changes, backs strings.Builder
	array, field := 0, 0
	tangent := false
	for i := range l {
		f := &l[i]
		name := "euler"
		if f.vector {
			name = "vectors"
		} else if len(f.types) == 1 {
			name = "isotropic"
		}
		var in, to, by []string
		for k, t := range f.types {
			in = append(in, fmt.Sprintf("(const %s *)in.at[%d]", cTypes[t], array+k))
			by = append(by, fmt.Sprintf("(%s *)to.at[%d]", cTypes[f.grads[k]], array+k))
			if f.change != nil {
				tangent = true
				to = append(to, fmt.Sprintf("(const %s *)to.at[%d]", cTypes[f.change[k]], array+k))
			}
		}
		sources := strings.Join(in, ", ")
		fmt.Fprintf(&makes, "\t%s(%s, i, f + %d);\n", name, sources, field)
		fmt.Fprintf(&backs, "\t%s_back(%s, %s, i, g + %d);\n", name, sources, strings.Join(by, ", "), field)
		switch {
		case f.change == nil:
		case name == "isotropic":
			fmt.Fprintf(&changes, "\tisotropic_change(%s, i, f + %d);\n", to[0], field)
		default:
			fmt.Fprintf(&changes, "\t%s_change(%s, %s, i, f + %d);\n", name, sources, strings.Join(to, ", "), field)
		}
		array, field = array+len(f.types), field+f.fields()
	}
	body := makes.String()
	if tangent {
		body = changes.String()
	}
	functions := fmt.Sprintf(`// produce makes the fields of voxel i or, where to has changes of the arrays, their changes.
static inline __device__ void produce(const Arrays &in, const Arrays &to, index_t i, R *f) {
%s}
static inline __device__ void unmake(const Arrays &in, const Targets &to, index_t i, const R *g) {
%s}
`, body, backs.String())
	return cuda.Narrow + l.prelude(bits) + strings.Replace(fieldsText, "MATERIAL_FUNCTIONS\n", functions, 1)
}

// opticsProgram returns a text about what detectors see.
func (l forms) opticsProgram(bits int, text string) string {
	var each strings.Builder
	field := 0
	for i := range l {
		fmt.Fprintf(&each, " F(%d, %d, %d)", i, field, l[i].fields())
		field += l[i].fields()
	}
	return l.prelude(bits) + "#define EACH_MATERIAL(F)" + each.String() + "\n" + opticsText + text
}
