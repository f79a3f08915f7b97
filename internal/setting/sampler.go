// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import "github.com/euryale-dev/euryale/infer"

// Sampler is what a user sets of the chains of any posterior. Commands and kinds of work bring defaults of their own.
type Sampler struct {
	Method       string  `yaml:"sampler" json:"sampler,omitempty" name:"sampler" default:"nuts" choices:"nuts,smc" about:"nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors to the posterior; for several modes, and for the evidence)"`
	Chains       int     `yaml:"chains" json:"chains" default:"4" low:"1" high:"65536" about:"number of independent chains"`
	Warmup       int     `yaml:"warmup" json:"warmup" low:"1" zero:"until the sampler has adapted, at most 1000" about:"warm-up draws per chain, which adapt the sampler and are discarded"`
	Draws        int     `yaml:"draws" json:"draws" default:"1000" low:"1" about:"draws to keep per chain"`
	TargetAccept float64 `yaml:"target_accept" json:"target_accept" above:"0" below:"1" zero:"0.8, raised if there are divergences" about:"target acceptance rate used to adapt the step size, in (0, 1)"`
	MaxTreeDepth int     `yaml:"max_tree_depth" json:"max_tree_depth" default:"10" low:"1" high:"20" about:"depth at which trajectories stop growing, after 2^depth - 1 steps"`
	Coordinates  string  `yaml:"coordinates" json:"coordinates,omitempty" default:"chosen" choices:"chosen,declared,laplace" about:"coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and scales; what is normal given the rest is integrated out), declared (those of the model), or laplace (what is normal but for the data, such as effects of groups in counts, is integrated out by Laplace's approximation, corrected draw by draw)"`
	Evidence     bool    `yaml:"evidence" json:"evidence,omitempty" about:"estimate the evidence, the probability of the data under the model, from the draws of nuts by bridge sampling"`
}

// Config returns the settings of package infer.
func (s Sampler) Config(seed uint64) infer.Settings {
	return infer.Settings{Chains: s.Chains, Warmup: s.Warmup, Draws: s.Draws, TargetAccept: s.TargetAccept, MaxTreeDepth: s.MaxTreeDepth, Seed: seed, Coordinates: s.coordinateKind(),
		Laplace: s.Coordinates == "laplace", Method: s.MethodKind()}
}

// MethodKind returns the setting of package infer for Method.
func (s Sampler) MethodKind() infer.Method {
	if s.Method == "smc" {
		return infer.SMC
	}
	return infer.NUTS
}

// coordinateKind returns the setting of package infer for Coordinates.
func (s Sampler) coordinateKind() infer.CoordinateKind {
	if s.Coordinates == "declared" {
		return infer.DeclaredCoordinates
	}
	return infer.ChosenCoordinates
}
