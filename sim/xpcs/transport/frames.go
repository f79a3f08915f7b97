// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// depends lists, for each quantity of a frame, the parameters that it depends on: integrals of rates and, for two components, the
// fraction of the sample.
var depends = map[Model][][]int{
	Static:       {{0, 1, 2}},
	Laminar:      {{0, 1, 2}, {3, 4, 5}},
	TwoComponent: {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11, 12}},
}

// Frames evaluates the terms of a model that belong to single frames, with the derivatives with
// respect to the parameters. It belongs to one goroutine while it is Set.
type Frames struct {
	setup  Setup
	state  *ad.State
	theta  []float64
	values [][]float64   // of each quantity, at each frame
	slopes [][][]float64 // of each quantity, by each parameter that it depends on, at each frame
}

// frameNodes are the quantities of each frame, each followed by its derivatives by the parameters that it depends on.
func (s *Setup) frameNodes(theta []*ad.Node) (outs []*ad.Node) {
	for v, quantity := range s.frames(theta) {
		outs = append(outs, quantity)
		for _, k := range depends[s.Model][v] {
			along := make([]*ad.Node, len(theta))
			for i := range along {
				along[i] = ad.Scalar(0)
			}
			along[k] = ad.Scalar(1)
			outs = append(outs, ad.Broadcast(ad.JVP(quantity, theta, along), len(s.Times)))
		}
	}
	return outs
}

// frameProgram compiles the quantities of the frames and, for a GPU, the cosine of each angle to the motion.
func (s *Setup) frameProgram(b ad.Backend) (*ad.Program, error) {
	theta, err := s.Inputs()
	if err != nil {
		return nil, err
	}
	outs := s.frameNodes(theta)
	if !ad.OnProcessor(b) {
		outs = s.deviceNodes(theta)
	}
	return ad.Compile(outs, ad.Settings{Inputs: theta, Backend: b})
}

// deviceNodes are the outputs of the program of frames on a GPU, which has the cosines of angles too.
func (s *Setup) deviceNodes(theta []*ad.Node) []*ad.Node {
	outs := s.frameNodes(theta)
	if s.Model == Static {
		return outs
	}
	turn := ad.Add(ad.Const(s.Angles), theta[len(theta)-1])
	if s.Model == Laminar {
		turn = ad.Sub(ad.Const(s.Angles), theta[len(theta)-1])
	}
	return append(outs, cosine(turn))
}

// frameOutputs is the number of outputs of frameProgram for a GPU.
func (s *Setup) frameOutputs() (count int) {
	for _, list := range depends[s.Model] {
		count += 1 + len(list)
	}
	if s.Model != Static {
		count++
	}
	return count
}

// NewFrames compiles the program that evaluates frames.
func (s *Setup) NewFrames() (*Frames, error) {
	p, err := s.frameProgram(ad.CPU{Threads: 1})
	if err != nil {
		return nil, err
	}
	f := &Frames{setup: *s, state: p.NewState()}
	at := 0
	next := func() []float64 {
		at++
		return f.state.Output(at - 1)
	}
	for _, list := range depends[s.Model] {
		f.values = append(f.values, next())
		var slopes [][]float64
		for range list {
			slopes = append(slopes, next())
		}
		f.slopes = append(f.slopes, slopes)
	}
	return f, nil
}

// Set evaluates the frames at parameters.
func (f *Frames) Set(theta []float64) error {
	f.theta = append(f.theta[:0], theta...)
	for i, v := range theta {
		f.state.Input(i)[0] = v
	}
	return f.state.Run()
}

// direction returns the cosine between an angle and the motion, and its derivative by the last parameter.
func (f *Frames) direction(angle int) (cosine, slope float64) {
	return f.setup.cosine(f.theta, angle)
}

func (s *Setup) cosine(theta []float64, angle int) (cosine, slope float64) {
	const degree = math.Pi / 180
	phi, turn := s.Angles[angle], theta[len(theta)-1]
	if s.Model == Laminar {
		s, c := math.Sincos((phi - turn) * degree)
		return c, s * degree
	}
	sine, c := math.Sincos((phi + turn) * degree)
	return c, -sine * degree
}
