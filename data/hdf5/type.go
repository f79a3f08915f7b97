// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "fmt"

// Class is the kind of an element's type.
type Class int

// The classes, numbered as in the file.
const (
	Int Class = iota
	Float
	Time
	String
	Bits
	Opaque
	Compound
	Reference
	Enum
	Vlen
	ArrayOf
)

// Type describes one element.
type Type struct {
	Class     Class
	Size      int // size of an element in the file, in bytes
	BigEndian bool
	// Signed reports whether an Int is signed.
	Signed bool
	// UTF8 reports whether a String or a Vlen string is UTF-8. Otherwise it is ASCII.
	UTF8 bool
	// IsString reports whether a Vlen is a string rather than a list.
	IsString bool
	Tag      string   // tag of an Opaque
	Members  []Member // fields of a Compound
	Names    []string // names of the values of an Enum
	Values   []int64  // values of an Enum, in the order of Names
	Base     *Type    // element type of an Enum, Vlen or ArrayOf
	Dims     []int    // lengths of the axes of an ArrayOf

	bitOffset, precision int // position and number of the significant bits of an Int or Float
	float                floatBits
	pad                  int // padding of a String: 0 ends with zero, 1 padded with zeros, 2 with spaces
}

// Member is one field of a Compound.
type Member struct {
	Name   string
	Offset int // position in bytes from the start of the element
	Type   *Type
}

// floatBits says where sign, exponent and mantissa are.
type floatBits struct {
	sign, expAt, expBits, mantAt, mantBits int
	bias                                   int64
	// normalisation of the mantissa; 2 means an implied leading one
	norm int
}

var ieee = map[int]floatBits{
	2: {15, 10, 5, 0, 10, 15, 2},
	4: {31, 23, 8, 0, 23, 127, 2},
	8: {63, 52, 11, 0, 52, 1023, 2},
}

// plain reports whether a number fills its bytes as Go's own types do.
func (t *Type) plain() bool {
	switch t.Class {
	case Int:
		return t.bitOffset == 0 && t.precision == 8*t.Size && validInt(t.Size)
	case Float:
		return t.bitOffset == 0 && t.precision == 8*t.Size && t.float == ieee[t.Size]
	}
	return false
}

func validInt(n int) bool { return n == 1 || n == 2 || n == 4 || n == 8 }

// isBool reports whether the type is the enum that h5py and this package use for booleans.
func (t *Type) isBool() bool {
	return t.Class == Enum && len(t.Names) == 2 && t.Names[0] == "FALSE" && t.Names[1] == "TRUE" &&
		t.Values[0] == 0 && t.Values[1] == 1
}

func (t *Type) isNumber() bool {
	return t.Class == Int || t.Class == Float || t.Class == Enum || t.Class == Bits
}

// IsComplex reports whether the type is a compound of two equal floats named r and i, as h5py stores
// complex numbers.
func (t *Type) IsComplex() bool {
	if t.Class != Compound || len(t.Members) != 2 {
		return false
	}
	r, i := t.Members[0], t.Members[1]
	return r.Name == "r" && i.Name == "i" && r.Type.Class == Float && i.Type.Class == Float && r.Type.Size == i.Type.Size
}

// String returns a name similar to those of NumPy: float64, uint8, bool, vlen-utf8-string, string[8],
// compound{x float64, n int32}.
func (t *Type) String() string {
	charset := map[bool]string{true: "utf8-", false: "ascii-"}[t.UTF8]
	switch {
	case t.Class == Int && t.Signed:
		return fmt.Sprintf("int%d", 8*t.Size)
	case t.Class == Int:
		return fmt.Sprintf("uint%d", 8*t.Size)
	case t.Class == Float:
		return fmt.Sprintf("float%d", 8*t.Size)
	case t.Class == String:
		return fmt.Sprintf("%sstring[%d]", charset, t.Size)
	case t.Class == Vlen && t.IsString:
		return "vlen-" + charset + "string"
	case t.Class == Vlen:
		return "vlen[" + t.Base.String() + "]"
	case t.isBool():
		return "bool"
	case t.Class == Enum:
		return "enum[" + t.Base.String() + "]"
	case t.Class == ArrayOf:
		return fmt.Sprintf("%v%v", t.Dims, t.Base)
	case t.IsComplex():
		return fmt.Sprintf("complex%d", 8*t.Size)
	case t.Class == Compound:
		return t.compoundString()
	}
	return fmt.Sprintf("%s[%d]", map[Class]string{Time: "time", Bits: "bits", Opaque: "opaque", Reference: "reference"}[t.Class], t.Size)
}

// InMemory reports whether elements are stored as a little-endian processor keeps them in memory: integers and floating-point numbers of IEEE 754
// whose bits are all significant.
func (t *Type) InMemory() bool {
	return (t.Class == Int || t.Class == Float) && t.plain() && (!t.BigEndian || t.Size == 1)
}

func (t *Type) compoundString() string {
	s := "compound{"
	for i, m := range t.Members {
		if i > 0 {
			s += ", "
		}
		s += m.Name + " " + m.Type.String()
	}
	return s + "}"
}
