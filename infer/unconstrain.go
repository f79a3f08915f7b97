package infer

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Unconstrain maps constrained values by name, row-major, to an unconstrained
// draw. A value outside its constraint, or on a bound, is an error that names it;
// nudge (0 for none) moves values on or beyond the bounds of an interval inside
// by that part of its width, of a half-line by that much.
func (p *Posterior) Unconstrain(values map[string][]float64, nudge float64) ([]float64, error) {
	for name := range values {
		if p.model.names[name] != "a parameter" {
			return nil, &ParamError{Param: name, Reason: fmt.Sprintf("the model has no such parameter: it has %v", p.model.paramNames())}
		}
	}
	q := make([]float64, 0, p.dim)
	var from, to []*ad.Node
	for _, m := range p.model.params {
		v, ok := values[m.name]
		if !ok {
			return nil, &ParamError{Param: m.name, Reason: "no value"}
		}
		if len(v) != m.node.Size() {
			return nil, &ParamError{Param: m.name, Reason: fmt.Sprintf("%d values, want %d", len(v), m.node.Size())}
		}
		bounds, err := p.atValues(m.transform.Bounds, from, to)
		if err != nil {
			return nil, &ParamError{Param: m.name, Reason: fmt.Sprintf("its bounds: %v", err)}
		}
		v, x, err := m.unconstrain(v, bounds, nudge)
		if err != nil {
			return nil, &ParamError{Param: m.name, Reason: err.Error()}
		}
		q = append(q, x...)
		from, to = append(from, m.node), append(to, constLike(m.node, v))
	}
	return q, nil
}

func (m *Model) paramNames() (names []string) {
	for _, p := range m.params {
		names = append(names, p.name)
	}
	return names
}

// ParamError reports a value that a parameter cannot take.
type ParamError struct{ Param, Reason string }

func (e *ParamError) Error() string { return fmt.Sprintf("infer: parameter %s: %s", e.Param, e.Reason) }

// unconstrain returns the nudged values and their unconstrained form. Bounds
// that differ between elements are met element by element.
func (m *param) unconstrain(v []float64, bounds [][]float64, nudge float64) (inside, x []float64, err error) {
	one := make([]float64, len(bounds))
	arrays := false
	for i, b := range bounds {
		one[i] = b[0]
		arrays = arrays || len(b) > 1
	}
	if !arrays {
		inside = nudged(v, m.transform.Name, one, nudge)
		x, err = m.transform.Inverse(inside, one...)
		return inside, x, err
	}
	for k := range v {
		for i, b := range bounds {
			if one[i] = b[0]; len(b) > 1 {
				if len(b) != len(v) {
					return nil, nil, fmt.Errorf("%d bounds for %d values", len(b), len(v))
				}
				one[i] = b[k]
			}
		}
		in := nudged(v[k:k+1], m.transform.Name, one, nudge)
		u, err := m.transform.Inverse(in, one...)
		if err != nil {
			return nil, nil, fmt.Errorf("value %d: %w", k, err)
		}
		inside, x = append(inside, in...), append(x, u...)
	}
	return inside, x, nil
}

// nudged moves values on or beyond bounds inside.
func nudged(v []float64, transform string, b []float64, part float64) []float64 {
	lo, hi, width := math.Inf(-1), math.Inf(1), 1.0
	switch transform {
	case "lower", "softplus":
		if lo = 0; len(b) > 0 {
			lo = b[0]
		}
	case "upper":
		hi = b[0]
	case "interval":
		lo, hi, width = b[0], b[1], b[1]-b[0]
	default:
		return v
	}
	if part == 0 {
		return v
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = min(max(x, above(lo, part*width)), -above(-hi, part*width))
	}
	return out
}

// above returns lo + by, or the next number where that rounds to lo.
func above(lo, by float64) float64 { return max(lo+by, math.Nextafter(lo, math.Inf(1))) }
