// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile

import (
	"maps"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/setting"
)

// Request is what a user sets of the model of stellar spectra: by flags of fit spectra, sample spectrum and plot spectrum or by keys of
// work lists. Each setting is declared here only. Names follow rvspecfit.
type Request struct {
	Library        string          `yaml:"library" json:"library,omitempty" zero:"from the configuration" about:"template library: a folder of rvspecfit or a library file"`
	Continuum      int             `yaml:"npoly" json:"npoly" name:"npoly" default:"10" low:"1" high:"1000" about:"number of basis functions of the continuum"`
	Chebyshev      bool            `yaml:"chebyshev" json:"chebyshev,omitempty" about:"use Chebyshev polynomials for the continuum instead of three powers and Gaussians"`
	FixedContinuum bool            `yaml:"fixed_continuum" json:"fixed_continuum,omitempty" about:"keep to the functions of --npoly, as rvspecfit does (default: add polynomials where the data call for them)"`
	KeepSpikes     bool            `yaml:"keep_spikes" json:"keep_spikes,omitempty" about:"keep pixels that stand out of the model as cosmic rays do, as rvspecfit does (default: leave them out and say so)"`
	Kernel         string          `yaml:"kernel" json:"kernel" default:"exact" choices:"exact,compat" about:"rotation kernel: exact, or compat as in rvspecfit, whose vsini is 4 km/s low at 10 to 25 km/s and 1.4 at 25 to 60"`
	Init           string          `yaml:"param_init" json:"param_init" name:"param-init" default:"ccf" choices:"ccf,bruteforce" about:"first guess: ccf (cross-correlation) or bruteforce (a grid of parameters)"`
	NoCCF          bool            `yaml:"no_ccf_continuum_normalize" json:"no_ccf_continuum_normalize,omitempty" name:"no-ccf-continuum-normalize" about:"cross-correlate without dividing by the continuum"`
	Resolution     bool            `yaml:"resolution_matrix" json:"resolution_matrix,omitempty" name:"resolution-matrix" about:"use the resolution matrices in DESI's files"`
	Errors         string          `yaml:"errors" json:"errors" default:"marginal" choices:"marginal,conditional" about:"errors of the parameters: marginal, or conditional on velocity and rotation as in rvspecfit"`
	Fixed          setting.Numbers `yaml:"fixed" json:"fixed,omitempty" about:"hold a parameter fixed"`
	Priors         setting.Texts   `yaml:"prior" json:"prior,omitempty" name:"prior" about:"prior of a parameter, such as teff=normal(5800,100)"`
	Floor          setting.Numbers `yaml:"floor" json:"floor,omitempty" about:"error to add in quadrature to those of an arm, in units of flux"`
}

// Settings returns the settings that are asked for, without configuration and machine. An error is of type *setting.Error.
func (r *Request) Settings() (Settings, error) {
	r.Init = strings.ToLower(r.Init) // rvspecfit writes CCF
	if err := setting.Complete(r); err != nil {
		return Settings{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Priors)) {
		if _, err := setting.Prior(name, r.Priors[name]); err != nil {
			return Settings{}, err
		}
	}
	s := Settings{Continuum: r.Continuum, Chebyshev: r.Chebyshev, FixedContinuum: r.FixedContinuum, KeepSpikes: r.KeepSpikes, Resolution: r.Resolution,
		BruteForce: r.Init == "bruteforce", Conditional: r.Errors == "conditional", Fixed: r.Fixed, Priors: r.Priors, Floor: r.Floor}
	s.Rotation.Compat = r.Kernel == "compat"
	return s, nil
}

// Sampling is how posteriors of stars are sampled where nothing else is asked for: they have a few parameters, start at the fit, and a
// gradient costs milliseconds.
func Sampling() setting.Sampler {
	return setting.Sampler{TargetAccept: 0.9, Warmup: 300, Draws: 500}
}
