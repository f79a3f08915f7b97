// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/g2"
)

// Settings are the options of fits and samplers, which are those of the commands. The zero value is the default, which is that of the command, too.
type Settings struct {
	Bin    int // number of the bin to sample, from 1; default: the first bin
	Chains int // number of chains. Default 4
	Warmup int // draws of each chain that adapt the sampler and are discarded. Default: until the sampler has adapted, at most 1000; 500 for motions
	Draws  int // draws of each chain that are kept. Default 1000
	Seed   uint64

	Sampler      string  // nuts or smc (a cloud of draws in each chain that moves from the priors to the posterior). Default nuts
	TargetAccept float64 // target acceptance rate used to adapt the step size. Default 0.9 for g2, else 0.8, raised if there are divergences
	MaxTreeDepth int     // depth at which trajectories stop growing, after 2^depth - 1 steps. Default 10
	Coordinates  string  // coordinates in which the chains move: chosen by the warm-up, or declared by the model. Default chosen
	Evidence     bool    // estimate the evidence of the model, the probability of the data under it; smc does always

	Fixed  map[string]float64    // values of parameters to hold fixed, by name
	Bounds map[string][2]float64 // bounds that replace those of the model, by name
	Start  map[string]float64    // starting values that replace those of the model, by name
	Priors map[string]string     // priors that replace those of the model, such as "lognormal(-3, 1)", by name

	Loss string // loss function of fits of g2: linear, soft_l1, huber, cauchy or arctan. Default linear

	// DropInvalid leaves out points that no fit can use, instead of failing.
	DropInvalid bool
}

// settings are the options of a model of g2, whose parameters they may name.
func (o Settings) settings(step string, m g2.Model) g2.Settings {
	var r g2.Request
	setting.Copy(&r, o)
	r.Model = m.Name
	_, s, err := r.Resolve()
	must(step, err)
	return s
}

// takes refuses options that are set, but the seed, those named, and those of declarations that a command has.
func (o Settings) takes(what, command string, declared any, others ...any) error {
	names := []string{"Seed"}
	for _, d := range append([]any{declared}, others...) {
		if name, ok := d.(string); ok {
			names = append(names, name)
			continue
		}
		for _, s := range setting.Of(d) {
			for _, name := range []string{s.Field, s.Exported()} {
				if _, has := reflect.TypeOf(o).FieldByName(name); has && !slices.Contains(names, name) && (s.Only == nil || slices.Contains(s.Only, command)) {
					names = append(names, name)
				}
			}
		}
	}
	return o.only(what, names...)
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

// sampling returns the settings of the sampler: the options, else those of the analysis, else the defaults.
func (o Settings) sampling(own setting.Sampler) (s setting.Sampler, err error) {
	setting.Copy(&s, o)
	if s.Method == "smc" && (o.Warmup != 0 || o.TargetAccept != 0 || o.MaxTreeDepth != 0 || o.Coordinates != "") {
		return s, errors.New("Sampler is smc, which has no warm-up and no trees: leave out Warmup, TargetAccept, MaxTreeDepth and Coordinates")
	}
	given := map[string]bool{}
	for _, v := range setting.Of(&s) {
		given[v.Name] = !v.IsZero()
	}
	setting.Default(&s, own, func(name string) bool { return given[name] })
	if err := setting.Complete(&s); err != nil {
		e := setting.Errors(err)[0]
		return s, fmt.Errorf("%s is %s", setting.Find(&s, e.Name).Exported(), e.Text)
	}
	return s, nil
}
