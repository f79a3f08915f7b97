// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// located is a parameter of a family: its prior has a location and a scale.
type located struct {
	Located
	// use is where observations tell about it, nil where that is the parameter itself.
	use     *linearUse
	parents []int // numbers of the parameters on which location, scale and use depend
}

// informed returns the number of elements about which observations tell.
func (l *located) informed(size int) int {
	if l.use != nil {
		return l.use.eta.Size()
	}
	return size
}

// matrix reports whether its coordinates take the Cholesky factor of a matrix at each gradient.
func (l *located) matrix() bool {
	return l.Factor != nil || l.use != nil && l.use.matrix != nil
}

// information is what observations tell about a parameter, or about its linear use eta, as a normal distribution would: the gradient of their log density
// is pull - weight eta, element by element. Nil weights leave the parameter in its unconstrained form.
type information struct{ weight, pull []float64 }

// choice says in which coordinates a sampler moves: by the information about the located parameters, and by the k of the positive ones, where 0 stands
// for q itself.
type choice struct {
	of   []information
	k    []float64
	tail []stretch // of the heavy-tailed parameters
}

// stretch is the map q = center + width (x + x^3/3), or q itself where the width is 0. For a located parameter that is not in its unconstrained form q are its coordinates relative to its
// conditional distribution.
type stretch struct{ center, width float64 }

func (h choice) clone() choice {
	return choice{slices.Clone(h.of), slices.Clone(h.k), slices.Clone(h.tail)}
}

// declared reports whether the coordinates are the unconstrained parameters themselves.
func (h choice) declared() bool {
	return !slices.ContainsFunc(h.of, func(i information) bool { return i.weight != nil }) && !slices.ContainsFunc(h.k, func(k float64) bool { return k != 0 }) &&
		!slices.ContainsFunc(h.tail, func(t stretch) bool { return t.width != 0 })
}

// same reports whether two choices are equal.
func (h choice) same(o choice) bool {
	return slices.Equal(h.k, o.k) && slices.Equal(h.tail, o.tail) && slices.EqualFunc(h.of, o.of, func(a, b information) bool {
		return (a.weight == nil) == (b.weight == nil) && slices.Equal(a.weight, b.weight) && slices.Equal(a.pull, b.pull)
	})
}

// family is what can be chosen for a target.
type family struct {
	*Movement
	target  Target
	located []located
	heavy   []int // inputs with heavy tails
	order   []int // parameters, each after those on which its map depends
	first   []int // place of each parameter among the unconstrained ones
	dim     int
}

// coordinatesOf returns what can be chosen for a target, or nil if there is nothing.
func coordinatesOf(t Target) (*family, error) {
	m, ok := t.(Movable)
	if !ok {
		return nil, nil
	}
	f := &family{Movement: movement(m), target: t}
	if f.Movement == nil {
		return nil, nil
	}
	for _, u := range f.Inputs {
		f.first = append(f.first, f.dim)
		f.dim += u.Size()
	}
	uses, err := f.linearUses()
	if err != nil {
		return nil, err
	}
	for i := range f.Inputs {
		if !slices.Contains(f.Positive, i) {
			f.locate(f.prior(i), uses[i])
		}
	}
	f.heavy = f.Heavy
	if len(f.located)+len(f.Positive)+len(f.heavy) == 0 || !f.sort() {
		return nil, nil
	}
	return f, nil
}

// prior returns location and scale of a parameter: those of a standard normal distribution where none are known.
func (f *family) prior(i int) Located {
	for _, l := range f.Located {
		if l.Input == i && (l.Factor == nil || l.Factor.Shape()[0] <= largestFactor) && !slices.ContainsFunc(l.nodes(), func(n *ad.Node) bool { return graph.Reads(n, f.Inputs[i]) }) {
			return l
		}
	}
	return Located{Input: i, Loc: ad.Scalar(0), Scale: ad.Scalar(1)}
}

// locate adds a parameter with the first of its uses that leaves an order of the parameters.
func (f *family) locate(prior Located, uses []linearUse) {
	tries := make([]*linearUse, 0, len(uses)+1)
	for k := range uses {
		tries = append(tries, &uses[k])
	}
	for _, use := range append(tries, nil) {
		l := located{Located: prior, use: use}
		nodes := l.Located.nodes()
		if use != nil {
			nodes = append(nodes, use.nodes()...)
		}
		for k, u := range f.Inputs {
			if k != l.Input && slices.ContainsFunc(nodes, func(n *ad.Node) bool { return graph.Reads(n, u) }) {
				l.parents = append(l.parents, k)
			}
		}
		if len(l.parents) == 0 {
			continue
		}
		f.located = append(f.located, l)
		if f.sort() {
			return
		}
		f.located = f.located[:len(f.located)-1]
	}
}

// linearUses returns for every parameter its linear uses beside which the log density has only the prior of the parameter.
func (f *family) linearUses() ([][]linearUse, error) {
	readers := graph.Consumers(f.LogProb)
	all := make([][]linearUse, len(f.Inputs))
	var gaps []*ad.Node // what the log density has beside use and prior, and how large that is
	for i, q := range f.Inputs {
		if slices.Contains(f.Positive, i) {
			continue
		}
		all[i] = linearUses(readers, q, slices.Delete(slices.Clone(f.Inputs), i, i+1))
		prior := f.prior(i).pull(q)
		for _, use := range all[i] {
			slopes := ad.Grad(f.LogProb, q, use.eta)
			told := ad.VJP(use.eta, slopes[1], q)[0]
			gaps = append(gaps, ad.Sum(ad.Abs(ad.Add(ad.Sub(slopes[0], told), prior))), ad.Sum(ad.Add(ad.Abs(told), ad.Abs(prior))))
		}
	}
	if len(gaps) == 0 {
		return all, nil
	}
	prog, err := ad.Compile(append(gaps, f.LogProb), ad.Settings{Inputs: slices.Concat(f.Inputs, f.Given), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	s, found := graph.State(prog, len(f.Inputs), f.GivenValues), false
	random := tensor.NewStream(0, purposeLinearUse, 0)
	for try := 0; try < 50 && !found; try++ {
		for i := range s.InputSpan(0, len(f.Inputs)) {
			s.InputSpan(0, len(f.Inputs))[i] = 2*random.Float64() - 1
		}
		found = s.Run() == nil && linalg.Finite(s.Output(len(gaps))[0])
	}
	k := 0
	for i, uses := range all {
		all[i] = slices.DeleteFunc(uses, func(linearUse) bool {
			gap, size := s.Output(k)[0], s.Output(k + 1)[0]
			k += 2
			return !(found && gap <= 1e-8*(1+size))
		})
	}
	return all, nil
}

// sort finds an order of the parameters in which locations and scales are known before they are needed; false where there is none.
func (f *family) sort() bool {
	of := map[int]*located{}
	for i := range f.located {
		of[f.located[i].Input] = &f.located[i]
	}
	state := make([]int, len(f.Inputs))
	f.order = f.order[:0]
	var visit func(i int) bool
	visit = func(i int) bool {
		switch state[i] {
		case 1:
			return false
		case 2:
			return true
		}
		state[i] = 1
		if l := of[i]; l != nil {
			for _, k := range l.parents {
				if !visit(k) {
					return false
				}
			}
		}
		state[i] = 2
		f.order = append(f.order, i)
		return true
	}
	for i := range f.Inputs {
		if !visit(i) {
			return false
		}
	}
	return true
}

// asDeclared returns the choice of the unconstrained parameters.
func (f *family) asDeclared() choice {
	return choice{make([]information, len(f.located)), make([]float64, len(f.Positive)), make([]stretch, len(f.heavy))}
}

// told says in words what was chosen.
func (f *family) told(h choice) []string {
	var out []string
	for j, l := range f.located {
		w := h.of[j].weight
		if w == nil {
			continue
		}
		form := "relative to its conditional mean and spread"
		if !slices.ContainsFunc(w, func(w float64) bool { return w != 0 }) {
			form = "non-centred"
		}
		out = append(out, f.Names[l.Input]+" is sampled "+form)
	}
	var soft []string
	for j, i := range f.Positive {
		if h.k[j] != 0 {
			soft = append(soft, f.Names[i])
		}
	}
	if soft != nil {
		out = append(out, strings.Join(soft, ", ")+" by a softplus in place of an exponential function")
	}
	for j, i := range f.heavy {
		if h.tail[j].width != 0 {
			out = append(out, f.Names[i]+" by a cube, which takes in its tails")
		}
	}
	return out
}
