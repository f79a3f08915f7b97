// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Validate fails if a known variable does not obey its constraint, and makes the target -Inf where one that depends on parameters does not.
func (m *Machine) Validate(d *syntax.Declare) error {
	s := m.find(d.Name)
	if s == nil || s.late || !d.Type.Constrained() {
		return nil
	}
	v := s.v.Settle()
	if err := m.validBounds(d, v); err != nil {
		return m.fault(d.At(), err)
	}
	return m.fault(d.At(), m.validShape(d, v))
}

func (m *Machine) validBounds(d *syntax.Declare, v value.Value) error {
	for _, b := range []struct {
		x    syntax.Expr
		text string
		bad  func(x, b float64) bool
		node func(x, b *ad.Node) *ad.Node
	}{
		{d.Type.Lower, "greater", func(x, b float64) bool { return !(x >= b) }, ad.Less},
		{d.Type.Upper, "less", func(x, b float64) bool { return !(x <= b) }, ad.Greater},
	} {
		if b.x == nil {
			continue
		}
		bound, err := m.eval(b.x)
		if err != nil {
			return err
		}
		if v.Known() && bound.Known() {
			for i, x := range v.F {
				y := bound.F[min(i, len(bound.F)-1)]
				if len(bound.F) > 1 {
					y = bound.F[i%len(bound.F)]
				}
				if b.bad(x, y) {
					return fmt.Errorf("%s%s is %g, but must be %s than or equal to %g", d.Name, place(v, i), x, b.text, y)
				}
			}
			continue
		}
		if v.Size() == 0 {
			continue
		}
		bad := b.node(v.Node(), bound.Node())
		if len(bad.Shape()) > 0 {
			bad = ad.Max(bad)
		}
		m.at = d.At()
		m.term(ad.Where(bad, ad.Scalar(math.Inf(-1)), ad.Scalar(0)))
	}
	return nil
}

// place names an element as users count it.
func place(v value.Value, i int) string {
	if len(v.Shape) == 0 {
		return ""
	}
	text := ""
	for k := len(v.Shape) - 1; k >= 0; k-- {
		text = fmt.Sprintf(",%d", i%v.Shape[k]+1) + text
		i /= v.Shape[k]
	}
	return "[" + text[1:] + "]"
}

// closeTo is how far sums may be from what they should be.
const closeTo = 1e-8

// validShape checks what constrained vectors and matrices that are known obey.
func (m *Machine) validShape(d *syntax.Declare, v value.Value) error {
	if !v.Known() || v.Elems != nil || v.Type.Kind == typing.Tuple {
		return nil
	}
	rank := v.Type.Kind.Rank()
	own := v.Shape[len(v.Shape)-rank:]
	n := value.Size(own)
	for e := 0; n > 0 && e*n < len(v.F); e++ {
		f := v.F[e*n : (e+1)*n]
		if why := violation(d.Type.Word, f, own); why != "" {
			return fmt.Errorf("%s is not a valid %s: %s: correct it, or declare it without the constraint", d.Name, d.Type.Word, why)
		}
	}
	return nil
}

// violation says what is wrong with a vector or matrix of a kind; empty if nothing is.
func violation(word string, f []float64, own []int) string {
	sum, squares := 0.0, 0.0
	for _, x := range f {
		sum, squares = sum+x, squares+x*x
	}
	switch word {
	case "simplex":
		for i, x := range f {
			if !(x >= 0) {
				return fmt.Sprintf("element %d is %g, but should be greater than or equal to 0", i+1, x)
			}
		}
		if !(math.Abs(sum-1) <= closeTo) {
			return fmt.Sprintf("sum is %.12g, but should be 1", sum)
		}
	case "sum_to_zero_vector", "sum_to_zero_matrix":
		if !(math.Abs(sum) <= closeTo) {
			return fmt.Sprintf("sum is %.12g, but should be 0", sum)
		}
	case "unit_vector":
		if !(math.Abs(squares-1) <= closeTo) {
			return fmt.Sprintf("the squared length is %.12g, but should be 1", squares)
		}
	case "ordered", "positive_ordered":
		if word == "positive_ordered" && len(f) > 0 && !(f[0] >= 0) {
			return fmt.Sprintf("the first element is %g, but should be at least 0", f[0])
		}
		for i := 1; i < len(f); i++ {
			if !(f[i] > f[i-1]) {
				return fmt.Sprintf("element %d is %g, but should be greater than the previous element, %g", i+1, f[i], f[i-1])
			}
		}
	case "corr_matrix", "cov_matrix":
		k := own[0]
		for i := range k {
			for j := range k {
				if !(math.Abs(f[i*k+j]-f[j*k+i]) <= closeTo) {
					return fmt.Sprintf("it is not symmetric: element %d,%d is %g, and element %d,%d is %g", i+1, j+1, f[i*k+j], j+1, i+1, f[j*k+i])
				}
			}
			if word == "corr_matrix" && !(math.Abs(f[i*k+i]-1) <= closeTo) {
				return fmt.Sprintf("element %d of the diagonal is %g, but should be 1", i+1, f[i*k+i])
			}
		}
		if !positiveDefinite(f, k) {
			return "it is not positive definite"
		}
	case "cholesky_factor_corr", "cholesky_factor_cov":
		cols := own[1]
		for i := range own[0] {
			for j := i + 1; j < cols; j++ {
				if f[i*cols+j] != 0 {
					return fmt.Sprintf("it is not lower triangular: element %d,%d is %g", i+1, j+1, f[i*cols+j])
				}
			}
			if i < cols && !(f[i*cols+i] > 0) {
				return fmt.Sprintf("element %d of the diagonal is %g, but should be positive", i+1, f[i*cols+i])
			}
		}
	}
	return ""
}
