package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Block is a group of parameters and their covariance in a BlockMetric.
type Block struct {
	Parameters []int       // places among the unconstrained parameters
	Cov        [][]float64 // in their order
}

// block is a Block by its Cholesky factor.
type block struct {
	at   []int
	chol []float64 // by rows, full square
}

// BlockMetric returns the metric that is a full covariance inside each block
// and diagonal elsewhere: variances holds one number per parameter, of which
// those inside a block do not count. A step costs the sum of the squares of the
// blocks.
func BlockMetric(variances []float64, blocks ...Block) (Metric, error) {
	v := slices.Clone(variances)
	taken := make([]bool, len(v))
	var made []block
	for k, b := range blocks {
		if len(b.Cov) != len(b.Parameters) || len(b.Cov) == 0 {
			return Metric{}, fmt.Errorf("infer: block %d of the metric has %d parameters and %d rows of covariance: want as many, at least 1", k, len(b.Parameters), len(b.Cov))
		}
		for _, i := range b.Parameters {
			if i < 0 || i >= len(v) || taken[i] {
				return Metric{}, fmt.Errorf("infer: block %d of the metric has parameter %d: want places from 0 to %d, each in one block", k, i, len(v)-1)
			}
			taken[i], v[i] = true, 1
		}
		dense, err := DenseMetric(b.Cov)
		if err != nil {
			return Metric{}, fmt.Errorf("block %d: %w", k, err)
		}
		made = append(made, block{slices.Clone(b.Parameters), dense.chol})
	}
	m, err := DiagMetric(v)
	m.blocks = made
	return m, err
}

// times writes L z at the block's places of dst.
func (b *block) times(dst, z []float64) {
	n := len(b.at)
	for i, to := range b.at {
		s := 0.0
		for j, l := range b.chol[i*n : i*n+i+1] {
			s += l * z[b.at[j]]
		}
		dst[to] = s
	}
}

// transposed writes L^T g.
func (b *block) transposed(dst, g []float64) {
	n := len(b.at)
	for _, to := range b.at {
		dst[to] = 0
	}
	for i, from := range b.at {
		for j, l := range b.chol[i*n : i*n+i+1] {
			dst[b.at[j]] += l * g[from]
		}
	}
}

// solve replaces v by L^-T v.
func (b *block) solve(v []float64) {
	n := len(b.at)
	for i := n - 1; i >= 0; i-- {
		x := v[b.at[i]] / b.chol[i*n+i]
		v[b.at[i]] = x
		for j, l := range b.chol[i*n : i*n+i] {
			v[b.at[j]] -= l * x
		}
	}
}

// blockEstimator learns variances and, inside blocks, covariances.
type blockEstimator struct {
	all    *diagEstimator
	at     [][]int
	blocks []*denseEstimator
	part   []float64
}

func newBlockEstimator(at [][]int, dim int, stanShrink bool) *blockEstimator {
	e := &blockEstimator{all: &diagEstimator{q: newMoments(dim), g: newMoments(dim), shrink: stanShrink}, at: at, part: make([]float64, dim)}
	for _, b := range at {
		e.blocks = append(e.blocks, &denseEstimator{mean: make([]float64, len(b)), m2: make([]float64, len(b)*len(b)), shrink: stanShrink})
	}
	return e
}

func (e *blockEstimator) count() int { return e.all.count() }

func (e *blockEstimator) reset() {
	e.all.reset()
	for _, b := range e.blocks {
		b.reset()
	}
}

func (e *blockEstimator) add(q, g []float64) {
	e.all.add(q, g)
	for k, b := range e.blocks {
		part := e.part[:len(e.at[k])]
		for i, from := range e.at[k] {
			part[i] = q[from]
		}
		b.add(part, nil)
	}
}

func (e *blockEstimator) metric() (Metric, bool) {
	m, ok := e.all.metric()
	if !ok {
		return Metric{}, false
	}
	for k, b := range e.blocks {
		dense, ok := b.metric()
		if !ok {
			return Metric{}, false
		}
		m.blocks = append(m.blocks, block{e.at[k], dense.chol})
	}
	return m, true
}

func (e *blockEstimator) save(w *checkpoint.Encoder) {
	e.all.save(w)
	for _, b := range e.blocks {
		b.save(w)
	}
}

func (e *blockEstimator) load(r *checkpoint.Decoder) {
	e.all.load(r)
	for _, b := range e.blocks {
		b.load(r)
	}
}

// Coordinates is implemented by a Target whose unconstrained parameters have
// names, for Config.Blocks; otherwise they are q[0], q[1] ...
type Coordinates interface{ Coordinates() []string }

// findBlocks resolves Config.Blocks for the target.
func (c *Config) findBlocks(t Target) error {
	c.blockAt = nil
	if len(c.Blocks) == 0 {
		return nil
	}
	names, taken := coordinates(t), map[int]bool{}
	for _, b := range c.Blocks {
		var at []int
		for _, want := range b {
			found := false
			for i, name := range names {
				if base, _, _ := strings.Cut(name, "["); name != want && base != want {
					continue
				}
				if taken[i] {
					return fmt.Errorf("infer: Config.Blocks has %s twice: want each parameter in one block", name)
				}
				taken[i], found = true, true
				at = append(at, i)
			}
			if !found {
				return fmt.Errorf("infer: Config.Blocks names %q, which is no parameter%s", want, meant(want, names))
			}
		}
		c.blockAt = append(c.blockAt, at)
	}
	return nil
}

func meant(name string, names []string) string {
	known := slices.Clone(names)
	for _, n := range names {
		if bare, _, element := strings.Cut(n, "["); element && !slices.Contains(known, bare) {
			known = append(known, bare)
		}
	}
	if near := spelling.Meant(name, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return fmt.Sprintf(": there are %v", names[:min(len(names), 20)])
}

func coordinates(t Target) []string {
	if c, ok := t.(Coordinates); ok {
		if names := c.Coordinates(); names != nil {
			return names
		}
	}
	names := make([]string, t.Dim())
	for i := range names {
		names[i] = fmt.Sprintf("q[%d]", i)
	}
	return names
}

// Coordinates returns the names of the unconstrained parameters: tau or theta[0],
// theta[1] ..., counted in the unconstrained form.
func (p *Posterior) Coordinates() []string {
	var out []string
	for k, q := range p.inputs[:len(p.model.params)] {
		name := p.model.params[k].name
		if len(q.Shape()) == 0 {
			out = append(out, name)
			continue
		}
		for i := range q.Size() {
			out = append(out, fmt.Sprintf("%s[%d]", name, i))
		}
	}
	return out
}

func (c *Config) estimator(dim int) estimator {
	if c.Metric == BlockVariance {
		return newBlockEstimator(c.blockAt, dim, c.StanShrink)
	}
	return newEstimator(c.Metric, dim, c.StanShrink)
}

func (m *Metric) saveBlocks(w *checkpoint.Encoder) {
	w.Int(len(m.blocks))
	for _, b := range m.blocks {
		w.Int(len(b.at))
		for _, i := range b.at {
			w.Int(i)
		}
		w.Floats(b.chol)
	}
}

func (m *Metric) loadBlocks(r *checkpoint.Decoder) {
	m.blocks = nil
	for range r.Count(16) {
		var b block
		for range r.Count(8) {
			b.at = append(b.at, r.Int())
		}
		b.chol = r.Floats()
		m.blocks = append(m.blocks, b)
	}
}

// blocksFit reports whether the blocks can belong to the metric of dim parameters.
func (m *Metric) blocksFit(dim int) bool {
	taken := map[int]bool{}
	for _, b := range m.blocks {
		for _, i := range b.at {
			if i < 0 || i >= dim || taken[i] {
				return false
			}
			taken[i] = true
		}
		if len(b.chol) != len(b.at)*len(b.at) || m.scale == nil || len(m.grow) > 0 {
			return false
		}
	}
	return true
}
