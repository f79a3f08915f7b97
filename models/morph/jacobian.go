// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Problem returns the inversion as a least-squares problem with an exact Jacobian, which
// takes one run of the simulator's tangent for each parameter. The residuals are those of
// the Loss over Sigma. It returns an error if the Scene has a Penalty, which has no
// residuals.
func (v *Inversion) Problem() (*optim.Problem, error) {
	l, err := v.linear()
	if err != nil {
		return nil, err
	}
	if l.scene.Penalty != nil {
		return nil, fmt.Errorf("morph: a penalty is no sum of squares of residuals: use Minimize, or leave it out")
	}
	start, lower, upper := v.start()
	p := &optim.Problem{M: len(l.data), N: len(start), Names: v.names(), Start: start, Lower: lower, Upper: upper,
		Residual: l.residuals, Jacobian: l.jacobian}
	return p, nil
}

// Fit finds the parameters by least squares. Unless the settings say otherwise, the
// method is Levenberg-Marquardt, or a trust region if there are bounds. A GPU that is lost or out of memory
// ends it like a cancellation: the best point so far is returned with the error.
func (v *Inversion) Fit(ctx context.Context, s optim.Settings) (*optim.Result, error) {
	if err := given.Args("morph.Inversion.Fit", "v", v, "ctx", ctx); err != nil {
		return nil, err
	}
	p, err := v.Problem()
	if err != nil {
		return nil, err
	}
	w := &faults{Context: ctx}
	residual, jacobian := p.Residual, p.Jacobian
	p.Residual = func(r, x []float64) error { return w.seen(residual(r, x)) }
	p.Jacobian = func(j, x []float64) error { return w.seen(jacobian(j, x)) }
	r, err := optim.LeastSquares(w, p, s)
	if fault := w.failed(); fault != nil {
		if err = fault; r != nil {
			r.Status = optim.Interrupted
		}
	}
	return r, err
}

// names returns the name of every element of every parameter.
func (v *Inversion) names() (list []string) {
	for _, p := range v.Params {
		for i := range p.Start {
			if len(p.Start) == 1 {
				list = append(list, p.Name)
			} else {
				list = append(list, fmt.Sprintf("%s[%d]", p.Name, i))
			}
		}
	}
	return list
}

// linear computes residuals and their derivatives along directions: first through the
// fields, then the simulator, then the residuals.
type linear struct {
	*comparison
	sim    *rsoxs.Simulator
	fields *ad.State // maps parameters to fields and constants
	along  *ad.State // maps parameters and directions to changes of fields and constants
	// residual maps the detected pattern, its change, parameters and directions to
	// residuals and their changes.
	residual *ad.State
	morph    *rsoxs.Morphology
	optics   rsoxs.Optics
	pattern  *rsoxs.Pattern
	at       []float64 // parameters at which morph was computed; nil before the first computation
	// remote says that the fields and their changes stay on the GPU of sim.
	remote bool
}

func (v *Inversion) linear() (*linear, error) {
	q, err := v.prepare()
	if err != nil {
		return nil, err
	}
	l := &linear{comparison: q, sim: q.Sim.Clone()}
	var fields, changes []*ad.Node
	moves := make([]*ad.Node, len(q.params))
	for i, p := range q.params {
		moves[i] = ad.Input("d"+p.Name(), p.Shape()...)
	}
	for i := range q.scene.Materials {
		fields = append(fields, q.scene.Materials[i].Nodes()...)
	}
	fields = append(fields, q.constant)
	for _, f := range fields {
		changes = append(changes, ad.JVP(f, q.params, moves))
	}
	if l.fields, err = v.state(fields, q.params); err != nil {
		return nil, err
	}
	if l.along, err = v.state(changes, append(append([]*ad.Node{}, q.params...), moves...)); err != nil {
		return nil, err
	}
	l.remote = l.sim.Shares(l.fields.Program()) && l.sim.Shares(l.along.Program())
	seen, dSeen := ad.Input("seen", len(q.index)), ad.Input("dseen", len(q.index))
	r := ad.Scale(1/q.sigma(), q.residual(seen))
	dr := ad.JVP(r, append([]*ad.Node{seen}, q.params...), append([]*ad.Node{dSeen}, moves...))
	in := append(append([]*ad.Node{seen, dSeen}, q.params...), moves...)
	if l.residual, err = q.state([]*ad.Node{r, dr}, in); err != nil {
		return nil, err
	}
	return l, l.room(fields)
}

func (v *Inversion) sigma() float64 {
	if v.Sigma > 0 {
		return v.Sigma
	}
	return 1
}

// state compiles a graph for the backend.
func (v *Inversion) state(out, in []*ad.Node) (*ad.State, error) {
	prog, err := ad.Compile(out, ad.Settings{Inputs: in, Backend: v.Backend})
	if err != nil {
		return nil, fmt.Errorf("morph: %w", err)
	}
	return prog.NewState(), nil
}

// room allocates the morphology to which the fields are copied.
func (l *linear) room(fields []*ad.Node) (err error) {
	if !l.remote {
		l.morph = &rsoxs.Morphology{PhysSize: l.sim.PhysSize(), Materials: l.materials()}
	}
	l.optics = make(rsoxs.Optics, l.energies())
	for e := range l.optics {
		l.optics[e] = make([]rsoxs.Constants, len(l.scene.Materials))
	}
	return nil
}

// materials allocates arrays with the shapes of the scene's materials.
func (l *linear) materials() []rsoxs.Material {
	list := make([]rsoxs.Material, len(l.scene.Materials))
	for i := range list {
		list[i] = l.scene.Materials[i].Arrays(tensor.Float64)
	}
	return list
}

// load copies the outputs of a state, which are fields and constants, to m and o.
func load(st *ad.State, m []rsoxs.Material, o rsoxs.Optics) {
	k := 0
	for i := range m {
		for _, t := range m[i].Fields() {
			copy(t.Data().([]float64), st.Output(k))
			k++
		}
	}
	loadOptics(st, k, o)
}

// loadOptics copies output k of a state, the constants, to o.
func loadOptics(st *ad.State, k int, o rsoxs.Optics) {
	c := st.Output(k)
	for e := range o {
		for i := range o[e] {
			at := 4 * (e*len(o[e]) + i)
			o[e][i] = rsoxs.Constants{DeltaPara: c[at], BetaPara: c[at+1], DeltaPerp: c[at+2], BetaPerp: c[at+3]}
		}
	}
}

// put copies the parameters x to the inputs of a state, starting at input k.
func (l *linear) put(st *ad.State, k int, x []float64) {
	for i, p := range l.Params {
		copy(st.Input(k+i), x[:len(p.Start)])
		x = x[len(p.Start):]
	}
}

// move computes the pattern at x.
func (l *linear) move(x []float64) error {
	if l.at != nil && equal(l.at, x) {
		return nil
	}
	l.at = nil
	l.put(l.fields, 0, x)
	if err := l.fields.Run(); err != nil {
		return err
	}
	ctx := context.Background()
	if l.remote {
		loadOptics(l.fields, l.outputs(), l.optics)
		if err := l.sim.TransformState(ctx, l.scene.Materials, l.fields); err != nil {
			return err
		}
	} else {
		load(l.fields, l.morph.Materials, l.optics)
		if err := l.sim.Transform(ctx, l.morph); err != nil {
			return err
		}
	}
	p, err := l.sim.Pattern(ctx, l.optics)
	if err != nil {
		return err
	}
	l.pattern, l.at = p, append([]float64(nil), x...)
	return nil
}

// fractions returns the arrays of the materials at the last point, from the device if they are there.
func (l *linear) fractions() []rsoxs.Material {
	if !l.remote {
		return l.morph.Materials
	}
	m := l.materials()
	load(l.fields, m, nil)
	return m
}

// outputs returns the number of arrays of all materials.
func (l *linear) outputs() (n int) {
	for i := range l.scene.Materials {
		n += len(l.scene.Materials[i].Nodes())
	}
	return n
}

func equal(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// residuals fills r with the residuals at x.
func (l *linear) residuals(r, x []float64) error {
	if err := l.move(x); err != nil {
		return err
	}
	flat, err := l.reduce(l.pattern)
	if err != nil {
		return err
	}
	l.pick(l.residual.Input(0), flat)
	l.put(l.residual, 2, x)
	if err := l.residual.Run(); err != nil {
		return err
	}
	copy(r, l.residual.Output(0))
	return nil
}

func (l *linear) pick(dst, flat []float64) {
	for i, at := range l.index {
		dst[i] = flat[at]
	}
}

// reduce returns the flat pattern or curves.
func (l *linear) reduce(p *rsoxs.Pattern) ([]float64, error) {
	if l.reducer == nil {
		return p.Intensity.Float64s(), nil
	}
	c, err := l.reducer.Reduce(p)
	if err != nil {
		return nil, err
	}
	return c.Flat(), nil
}

// reduceTangent returns the derivative of reduce along a change of the pattern.
func (l *linear) reduceTangent(d *tensor.Tensor) ([]float64, error) {
	if l.reducer == nil {
		return d.Float64s(), nil
	}
	c, err := l.reducer.Tangent(l.pattern, d)
	if err != nil {
		return nil, err
	}
	return c.Flat(), nil
}

// jacobian fills j with the Jacobian at x, column by column.
func (l *linear) jacobian(j, x []float64) error {
	r := make([]float64, len(l.data))
	if err := l.residuals(r, x); err != nil {
		return err
	}
	unit := make([]float64, len(x))
	for k := range x {
		unit[k] = 1
		if err := l.column(j[k*len(r):(k+1)*len(r)], x, unit); err != nil {
			return err
		}
		unit[k] = 0
	}
	return nil
}

// tangent returns the derivative of the pattern along the changes that the state along has.
func (l *linear) tangent() (*tensor.Tensor, error) {
	do := make(rsoxs.Optics, len(l.optics))
	for e := range do {
		do[e] = make([]rsoxs.Constants, len(l.scene.Materials))
	}
	if l.remote {
		loadOptics(l.along, l.outputs(), do)
		return l.sim.TangentState(context.Background(), l.optics, l.scene.Materials, l.along, do)
	}
	dm := l.materials()
	load(l.along, dm, do)
	return l.sim.Tangent(context.Background(), l.optics, dm, do)
}

// column writes the derivative of the residuals at x along a direction to dst.
func (l *linear) column(dst, x, direction []float64) error {
	l.put(l.along, 0, x)
	l.put(l.along, len(l.Params), direction)
	if err := l.along.Run(); err != nil {
		return err
	}
	d, err := l.tangent()
	if err != nil {
		return err
	}
	flat, err := l.reduceTangent(d)
	if err != nil {
		return err
	}
	l.pick(l.residual.Input(1), flat)
	l.put(l.residual, 2+len(l.Params), direction)
	if err := l.residual.Run(); err != nil {
		return err
	}
	copy(dst, l.residual.Output(1))
	return nil
}
