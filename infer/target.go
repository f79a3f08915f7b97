// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

// Target is a log density on unconstrained space, up to a constant, with its
// gradient. It is not safe for concurrent use; each chain works on a Clone.
//
// Optional methods are found by the sampler: those of Outputs, Explainer and
// Fingerprinter.
type Target interface {
	// Dim returns the number of unconstrained parameters.
	Dim() int
	// LogProbGrad writes the gradient at q into g and returns the log density.
	// It keeps neither slice. An error made by Reject rejects the point; any
	// other ends the chain. A density of -Inf or NaN rejects the point, too;
	// +Inf is an error.
	LogProbGrad(q, g []float64) (float64, error)
	// Clone returns a copy with a workspace of its own.
	Clone() Target
}

// Outputs is implemented by a Target whose draws are to be stored in another
// form than the unconstrained one: named, constrained, with derived quantities.
// The sampler calls Write on the chain's own clone, once per kept draw.
type Outputs interface {
	Names() []string              // names of the columns, all different
	Len() int                     // number of columns
	Write(q, out []float64) error // fills the columns from an unconstrained draw
}

// Explainer is implemented by a Target that can say which of its parts is not
// finite at q; the sampler quotes it when no start can be found.
type Explainer interface{ Explain(q []float64) string }

// Fingerprinter is implemented by a Target that can tell itself from others:
// equal model and data give equal fingerprints. A run is resumed only with the
// same fingerprint.
type Fingerprinter interface{ Fingerprint() string }

// Func returns the Target of a density that keeps no state: f writes every element
// of the gradient at q into g and returns the log density. It is called from several
// goroutines at once. Samplers compare the gradient with differences before they
// start, see CheckGradient.
func Func(dim int, f func(q, g []float64) float64) Target {
	if f == nil {
		panic("infer: Func: the function of the density is nil")
	}
	return PerChain(dim, func() func(q, g []float64) float64 { return f })
}

// PerChain returns the Target of a density that needs a workspace: start makes
// one function per chain.
func PerChain(dim int, start func() func(q, g []float64) float64) Target {
	if dim < 0 || start == nil {
		panic("infer: the function of a density is nil, or its dimension is below 0")
	}
	return &funcTarget{dim: dim, start: start}
}

type funcTarget struct {
	dim   int
	start func() func(q, g []float64) float64
	f     func(q, g []float64) float64
}

func (t *funcTarget) Dim() int { return t.dim }

func (t *funcTarget) LogProbGrad(q, g []float64) (float64, error) {
	if t.f == nil {
		t.f = t.start()
	}
	return t.f(q, g), nil
}

func (t *funcTarget) Clone() Target { return &funcTarget{dim: t.dim, start: t.start} }

// WithOutputs returns t with named columns computed from every kept draw, for
// densities made by Func: write fills out, which has one place per name, from
// the unconstrained draw q. It is called from several goroutines at once.
func WithOutputs(t Target, names []string, write func(q, out []float64) error) Target {
	if write == nil {
		panic("infer: WithOutputs: the function is nil")
	}
	return &outputTarget{Target: t, names: names, write: write}
}

type outputTarget struct {
	Target
	names []string
	write func(q, out []float64) error
}

func (t *outputTarget) Clone() Target                { return &outputTarget{t.Target.Clone(), t.names, t.write} }
func (t *outputTarget) Names() []string              { return t.names }
func (t *outputTarget) Len() int                     { return len(t.names) }
func (t *outputTarget) Write(q, out []float64) error { return t.write(q, out) }

func (t *outputTarget) Coordinates() []string {
	if c, ok := t.Target.(Coordinates); ok {
		return c.Coordinates()
	}
	return nil
}

func (t *outputTarget) Explain(q []float64) string {
	if e, ok := t.Target.(Explainer); ok {
		return e.Explain(q)
	}
	return ""
}

func (t *outputTarget) Fingerprint() string {
	f, _ := t.fingerprint()
	return f
}

func (t *outputTarget) fingerprint() (string, error) {
	f, _, err := fingerprintOf(t.Target)
	return f, err
}

// fingerprintOf returns the fingerprint of a target that has one, or why it cannot be told now.
func fingerprintOf(t Target) (f string, has bool, err error) {
	switch t := t.(type) {
	case interface{ fingerprint() (string, error) }:
		f, err = t.fingerprint()
		return f, true, err
	case Fingerprinter:
		return t.Fingerprint(), true, nil
	}
	return "", false, nil
}

// Observer is implemented by a Target that is not a Posterior and knows what was observed: Observations returns a Posterior over the same
// unconstrained parameters with the observations, or nil if there are none. Checks of the model, predictions and comparisons use it.
type Observer interface{ Observations() *Posterior }

// Arrays is implemented by Outputs whose columns are the elements of arrays, in the order of the columns. Without it every column of a
// Target that is not a Posterior is a variable of its own.
type Arrays interface{ Arrays() []Array }

// Array is a variable whose elements are columns.
type Array struct {
	Name  string
	Shape []int
	// FirstFastest says that the first index runs fastest among the columns, and not the last.
	FirstFastest bool
}
