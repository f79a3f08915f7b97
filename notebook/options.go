// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/g2"
)

// Settings are the options of fits and samplers. The zero value is the default of the packages below.
type Settings struct {
	Bin    int // number of the bin to sample, from 1; default: the first bin
	Chains int // number of chains. Default 4
	Warmup int // draws of each chain that adapt the sampler and are discarded. Default: until the sampler has adapted, at most 1000
	Draws  int // draws of each chain that are kept. Default 1000
	Seed   uint64

	TargetAccept float64 // target acceptance rate used to adapt the step size. Default 0.8

	Fixed  map[string]float64    // values of parameters to hold fixed, by name
	Bounds map[string][2]float64 // bounds that replace those of the model, by name
	Start  map[string]float64    // starting values that replace those of the model, by name
	Priors map[string]string     // priors that replace those of the model, such as "lognormal(-3, 1)", by name

	Loss string // loss function of fits of g2: linear, soft_l1, huber, cauchy or arctan. Default linear

	// DropInvalid leaves out points that no fit can use, instead of failing.
	DropInvalid bool
}

// settings are the options of the models of g2.
func (o Settings) settings(step string) g2.Settings {
	var r g2.Request
	setting.Copy(&r, o)
	_, s, err := r.Resolve()
	must(step, err)
	return s
}

// samplerOnly refuses options that only models of g2 have.
func (o Settings) samplerOnly() error {
	if o.Bin != 0 || o.DropInvalid || o.Loss != "" || len(o.Fixed)+len(o.Bounds)+len(o.Start)+len(o.Priors) > 0 {
		return errors.New("Bin, Fixed, Bounds, Start, Priors, Loss and DropInvalid are options of g2: declare priors and fixed values in the model")
	}
	return nil
}

// only refuses options that are set, but those named.
func (o Settings) only(what string, names ...string) error {
	v := reflect.ValueOf(o)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !v.Field(i).IsZero() && !slices.Contains(names, name) {
			return fmt.Errorf("%s has no option %s: the options are %s", what, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// mostChains is the largest number of chains.
const mostChains = 10_000

// chains returns the number of chains.
func (o Settings) chains() (int, error) {
	if o.Chains < 0 || o.Chains > mostChains {
		return 0, fmt.Errorf("Chains is %d: want 1 to %d, or 0 for 4", o.Chains, mostChains)
	}
	return cmp.Or(o.Chains, 4), nil
}

// config is the options of the sampler.
func (o Settings) config() infer.Settings {
	return infer.Settings{Chains: o.Chains, Warmup: o.Warmup, Draws: o.Draws, Seed: o.Seed, TargetAccept: o.TargetAccept}
}
