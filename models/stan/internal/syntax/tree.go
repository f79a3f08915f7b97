// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/euryale-dev/euryale/models/stan/internal/typing"

// Program is a parsed program.
type Program struct {
	Source    *Source
	Functions []*Function
	// Blocks holds the statements of the other blocks; nil where a block is missing.
	Blocks [Blocks]*Block
	// Notes are what is deprecated and was read nevertheless.
	Notes []*Error
}

// The blocks of a program in their order, but for that of functions.
const (
	Data = iota
	TransformedData
	Parameters
	TransformedParameters
	Model
	GeneratedQuantities
	Blocks
)

// BlockNames are the words before the braces of blocks.
var BlockNames = [Blocks]string{"data", "transformed data", "parameters", "transformed parameters", "model", "generated quantities"}

// Function is a function of a program.
type Function struct {
	Span   Span
	Name   string
	At     Span // of the name
	Result typing.Type
	Args   []Arg
	Body   *Block // nil for a declaration whose definition follows
}

// Arg is an argument of a Function.
type Arg struct {
	Span Span
	Name string
	Type typing.Type
}

// Expr is an expression. Its Type is filled in by the checker.
type Expr interface {
	At() Span
	Type() typing.Type
	base() *node
}

type node struct {
	span Span
	typ  typing.Type
	data bool
}

func (n *node) At() Span          { return n.span }
func (n *node) Type() typing.Type { return n.typ }
func (n *node) base() *node       { return n }

// SetType tells the type of an expression, and whether it depends on data only.
func SetType(e Expr, t typing.Type, data bool) { e.base().typ, e.base().data = t, data }

// DataOnly says whether an expression cannot depend on parameters.
func DataOnly(e Expr) bool { return e.base().data }

// The expressions.
type (
	// Number is an integer or a real or imaginary number.
	Number struct {
		node
		Text      string
		Imaginary bool
		Integer   bool
	}
	// Text is a string, which print and reject take.
	Text struct {
		node
		Value string
	}
	// Name is a variable, or a function that is given as an argument.
	Name struct {
		node
		Name string
	}
	// Unary is -x, +x, !x or the transpose x'.
	Unary struct {
		node
		Op string
		X  Expr
	}
	// Binary is x op y.
	Binary struct {
		node
		Op   string
		X, Y Expr
	}
	// Choice is cond ? x : y.
	Choice struct {
		node
		Cond, X, Y Expr
	}
	// Call is name(args). Bar tells that the first argument ends with a vertical bar, as those of densities do.
	Call struct {
		node
		Name string
		Word Span // of the name
		Args []Expr
		Bar  bool
	}
	// Index is x[list].
	Index struct {
		node
		X    Expr
		List []Place
	}
	// Field is x.n of a tuple.
	Field struct {
		node
		X Expr
		N int
	}
	// List is {x, y}, an array; [x, y], a row vector or the rows of a matrix; or (x, y), a tuple.
	List struct {
		node
		Bracket byte // { [ or (
		Items   []Expr
	}
	// Target is target().
	Target struct{ node }
)

// Place is one index: a single one or an array of them, or a range.
type Place struct {
	Span   Span
	Single Expr // x[i]; nil for a range
	Lo, Hi Expr // x[lo:hi]; nil where open
}

// Stmt is a statement.
type Stmt interface{ At() Span }

type stmt struct{ span Span }

func (s *stmt) At() Span { return s.span }

// The statements.
type (
	// Block is { ... }.
	Block struct {
		stmt
		List []Stmt
	}
	// Declare declares one variable.
	Declare struct {
		stmt
		Word Span // of the name
		Name string
		Type *Sized
		Init Expr // nil without one
		// Unsized is the type of the value.
		Unsized typing.Type
	}
	// Assign is x op y, with the operator without its equals sign. Several places stand for a tuple that is taken apart.
	Assign struct {
		stmt
		To   Expr
		Op   string
		From Expr
	}
	// Increase is target += x or jacobian += x.
	Increase struct {
		stmt
		X        Expr
		Jacobian bool
	}
	// Tilde is x ~ f(args) T[lower, upper].
	Tilde struct {
		stmt
		X            Expr
		Name         string
		Word         Span
		Args         []Expr
		Truncated    bool
		Lower, Upper Expr
		Suffix       string // of the density, _lpdf or _lpmf, which the checker finds
	}
	// Do calls a function that returns nothing.
	Do struct {
		stmt
		Call *Call
	}
	// If is a condition.
	If struct {
		stmt
		Cond       Expr
		Then, Else Stmt
	}
	// While is a loop with a condition.
	While struct {
		stmt
		Cond Expr
		Body Stmt
	}
	// For runs over integers.
	For struct {
		stmt
		Name   string
		Word   Span
		Lo, Hi Expr
		Body   Stmt
	}
	// Each runs over the elements of a container.
	Each struct {
		stmt
		Name string
		Word Span
		Over Expr
		Body Stmt
	}
	// Jump is break or continue.
	Jump struct {
		stmt
		Word string
	}
	// Return ends a function.
	Return struct {
		stmt
		X Expr // nil without a value
	}
	// Tell is print, reject or fatal_error.
	Tell struct {
		stmt
		Word string
		Args []Expr
	}
	// Profile is a block with a name, which changes nothing.
	Profile struct {
		stmt
		Body *Block
	}
)

// Sized is the type of a variable with its sizes and what it is constrained to.
type Sized struct {
	Span  Span
	Dims  []Expr      // of the array
	Word  string      // real, vector, simplex and so on
	Kind  typing.Kind // of the elements
	Sizes []Expr      // of vectors and matrices
	Elems []*Sized    // of a tuple

	Lower, Upper, Offset, Multiplier Expr
}

// Constrained says whether the values of a type obey something.
func (s *Sized) Constrained() bool {
	return s.Lower != nil || s.Upper != nil || s.Offset != nil || s.Multiplier != nil || special[s.Word] != 0
}

// Type returns the type without sizes.
func (s *Sized) Type() typing.Type {
	t := typing.Type{Kind: s.Kind, Dims: len(s.Dims)}
	for _, e := range s.Elems {
		t.Elems = append(t.Elems, e.Type())
	}
	return t
}

// special are the words of constrained vectors and matrices, with the number of their sizes.
var special = map[string]int{"ordered": 1, "positive_ordered": 1, "simplex": 1, "unit_vector": 1, "sum_to_zero_vector": 1, "cholesky_factor_corr": 1,
	"corr_matrix": 1, "cov_matrix": 1, "cholesky_factor_cov": 2, "sum_to_zero_matrix": 2, "column_stochastic_matrix": 2, "row_stochastic_matrix": 2}

// kinds are the words of types.
var kinds = map[string]typing.Kind{"int": typing.Int, "real": typing.Real, "complex": typing.Complex, "vector": typing.Vector, "row_vector": typing.RowVector,
	"matrix": typing.Matrix, "complex_vector": typing.ComplexVector, "complex_row_vector": typing.ComplexRowVector, "complex_matrix": typing.ComplexMatrix}

func init() {
	for w := range special {
		kinds[w] = typing.Vector
	}
	for _, w := range []string{"cholesky_factor_corr", "corr_matrix", "cov_matrix", "cholesky_factor_cov", "sum_to_zero_matrix", "column_stochastic_matrix", "row_stochastic_matrix"} {
		kinds[w] = typing.Matrix
	}
}
