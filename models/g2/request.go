// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"maps"
	"slices"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/optim"
)

// Request is what a user sets of a fit or a posterior of correlation functions: by flags of fit g2 and sample g2, by keys of work lists
// or by options of notebooks. Each setting is declared here only.
type Request struct {
	Model       string            `yaml:"model" json:"model" default:"single" hint:"a part of your own needs a command that imports its package" about:"relaxation model"`
	Fixed       setting.Numbers   `yaml:"fixed" json:"fixed,omitempty" about:"hold a parameter fixed"`
	Bounds      setting.Intervals `yaml:"bounds" json:"bounds,omitempty" about:"bounds of a parameter"`
	Start       setting.Numbers   `yaml:"start" json:"start,omitempty" about:"starting value of a parameter"`
	Priors      setting.Texts     `yaml:"prior" json:"prior,omitempty" name:"prior" about:"prior of a parameter, such as tau=lognormal(-3,1); in fit g2 a penalty, which needs errors: normal, lognormal, halfnormal, truncatednormal or uniform"`
	Loss        string            `yaml:"loss" json:"loss,omitempty" default:"linear" choices:"linear,soft_l1,huber,cauchy,arctan" about:"loss function"`
	DropInvalid bool              `yaml:"drop_invalid" json:"drop_invalid,omitempty" about:"drop points whose delay, value or error is not a usable number"`
}

// Choices lists the models.
func (*Request) Choices(name string) (all []string) {
	if name == "model" {
		for _, m := range Models() {
			all = append(all, m.Name)
		}
	}
	return all
}

// Resolve returns the model and the settings that are asked for. An error about one setting is of type *setting.Error.
func (r Request) Resolve() (Model, Settings, error) {
	if err := setting.Complete(&r); err != nil {
		return Model{}, Settings{}, err
	}
	model, err := ByName(r.Model)
	if err != nil {
		return model, Settings{}, err
	}
	s := Settings{Fixed: r.Fixed, Bounds: r.Bounds, Start: r.Start, Priors: map[string]dist.Dist{}, Loss: optim.Loss(r.Loss), DropInvalid: r.DropInvalid}
	if r.Loss == "linear" {
		s.Loss = optim.Linear
	}
	for _, name := range slices.Sorted(maps.Keys(r.Start)) {
		if v, fixed := r.Fixed[name]; fixed {
			return model, s, &setting.Error{Name: "start", Text: fmt.Sprintf("%s=%g: %s is held fixed at %g: leave one of them out", name, r.Start[name], name, v)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Priors)) {
		if s.Priors[name], err = setting.Prior(name, r.Priors[name]); err != nil {
			return model, s, err
		}
	}
	if err := model.wrong(); err != nil {
		return model, s, err
	}
	if at, err := s.wrong(model); err != nil {
		return model, s, &setting.Error{Name: at, Text: errtext.Without("g2: ", err).Error()}
	}
	return model, s, nil
}

// Sampling is how posteriors of correlation functions are sampled where nothing else is asked for. A gradient costs microseconds, so the
// target acceptance rate is high: 0.9 leaves few divergences.
func Sampling() setting.Sampler { return setting.Sampler{TargetAccept: 0.9} }
