package tensor

import "fmt"

// DType is the type of an array's elements.
type DType uint8

// The element types. Complex numbers are for the edges: files and transforms.
const (
	Float64 DType = iota
	Float32
	Int64
	Int32
	Bool
	Complex128
	Complex64
)

// dtypes holds what differs between the types: name, bytes, and NumPy's code.
var dtypes = [...]struct {
	name  string
	bytes int
	descr string
}{
	{"float64", 8, "f8"}, {"float32", 4, "f4"}, {"int64", 8, "i8"}, {"int32", 4, "i4"},
	{"bool", 1, "b1"}, {"complex128", 16, "c16"}, {"complex64", 8, "c8"},
}

// String returns Go's name of the type.
func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return fmt.Sprintf("DType(%d)", d)
}

// Bytes returns the size of one element.
func (d DType) Bytes() int { return dtypes[d].bytes }

// makeSlice returns n zero elements of type d.
func (d DType) makeSlice(n int) any {
	switch d {
	case Float32:
		return make([]float32, n)
	case Int64:
		return make([]int64, n)
	case Int32:
		return make([]int32, n)
	case Bool:
		return make([]bool, n)
	case Complex128:
		return make([]complex128, n)
	case Complex64:
		return make([]complex64, n)
	}
	return make([]float64, n)
}

// dtypeOf returns the type and length of a slice.
func dtypeOf(data any) (d DType, n int, ok bool) {
	switch s := data.(type) {
	case []float64:
		return Float64, len(s), true
	case []float32:
		return Float32, len(s), true
	case []int64:
		return Int64, len(s), true
	case []int32:
		return Int32, len(s), true
	case []bool:
		return Bool, len(s), true
	case []complex128:
		return Complex128, len(s), true
	case []complex64:
		return Complex64, len(s), true
	}
	return 0, 0, false
}
