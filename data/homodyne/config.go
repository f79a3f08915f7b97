// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Scaling says how contrast and offset depend on the angle.
type Scaling string

// The ways, as configurations call them (per_angle_mode).
const (
	ScalingAuto       Scaling = "auto" // the best of the others by an information criterion
	ScalingIndividual Scaling = "individual"
	ScalingAveraged   Scaling = "averaged"
	ScalingFourier    Scaling = "fourier"
	ScalingConstant   Scaling = "constant"
)

// Method says what to do.
type Method string

// The methods.
const (
	LeastSquares Method = "nlsq"
	Sampling     Method = "nuts" // also for mcmc and cmc
	Both         Method = "both"
)

// Config is what a configuration says, with defaults for what it does not say.
type Config struct {
	File  string // where it was read
	Model Model

	Data      string  // file of correlations, as named; see Path
	Q         float64 // 1/angstrom; 0: the only one of the data
	Tolerance float64 // of q, see Selection
	Angles    AngleFilter
	First     int // first frame, from 1
	Last      int // last frame; 0: that of the data
	Step      float64
	Clock     Clock
	Gap       float64 // between the plates in angstroms. Default 2e6
	Azimuths  string  // text file of angles in degrees, for simulations; "" for none

	Parameters []Parameter // of the motion, in the order of Model.Names
	Contrast   Parameter
	Offset     Parameter
	// Contrasts and Offsets are start values of each angle; nil if there are none. One number stands for all angles.
	Contrasts, Offsets []float64
	Scaling            Scaling
	Harmonics          int // of ScalingFourier. Default 2

	// Customary asks for the numbers of homodyne, xpcsjax and heterodyne instead of exact ones: key shear with the value homodyne.
	Customary bool
	Band      int // how far from the diagonal entries are left out beside it. Default 0

	Method  Method
	NLSQ    NLSQ
	Sampler Sampler
	Noise   bool // whether the scatter of the data is to be estimated

	Output string // folder of results, as named; "" if the configuration does not say it
	Plots  Plots

	Notices []string // what a person should know
	Ignored []string // keys that have no meaning here, in the order of the file
}

// NLSQ are the settings of least squares. Zeros stand for the defaults of the method.
type NLSQ struct {
	Iterations             int
	FTol, XTol, GTol       float64
	Loss                   string // linear, soft_l1, huber, cauchy or arctan; "" if the configuration does not say it
	Starts, Refined        int    // several starts: how many, and how many of them to follow to the end; 0: one start
	Seed                   uint64
	Evolution              bool // whether to search with CMA-ES first
	EvolutionGenerations   int
	EvolutionPopulation    int
	EvolutionSigma         float64
	ScreenFraction         float64
	ReducedChiSquaredLimit float64
}

// Sampler are the settings of a posterior. Zeros stand for the defaults of the method.
type Sampler struct {
	Warmup, Draws, Chains int
	Accept                float64 // target acceptance rate
	Depth                 int     // largest depth of a trajectory's tree
	Dense                 bool    // whether the metric is dense
	Seed                  uint64
}

// Plots says what pictures to make.
type Plots struct {
	Save      bool
	Format    string // png, pdf or svg
	DPI       int
	Low, High float64 // limits of the colours, if Fixed
	Fixed     bool
}

func defaults() *Config {
	return &Config{Gap: 2e6, First: 1, Scaling: ScalingAuto, Harmonics: 2, Method: LeastSquares, Contrast: parameter("contrast"), Offset: parameter("offset")}
}

// Selection returns what to read of the data.
func (c *Config) Selection() Selection {
	return Selection{Q: c.Q, Tolerance: c.Tolerance, Angles: c.Angles, First: c.First, Last: c.Last, Step: c.Step}
}

// Parameter returns a parameter of the motion by any of its names, nil if the model has none.
func (c *Config) Parameter(name string) *Parameter {
	name = c.Model.Name(name)
	for i := range c.Parameters {
		if c.Parameters[i].Name == name {
			return &c.Parameters[i]
		}
	}
	return nil
}

// Path returns where a file that the configuration names is: from the working directory, or beside the configuration.
func (c *Config) Path(name string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("homodyne: %s: names no file of data: give experimental_data.file_path", c.File)
	}
	_, err := os.Stat(name)
	if err == nil {
		return name, nil
	}
	if errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(name) && c.File != "" {
		beside := filepath.Join(filepath.Dir(c.File), name)
		if _, e := os.Stat(beside); e == nil {
			return beside, nil
		}
	}
	return "", fmt.Errorf("homodyne: %s names a file: %w", c.File, err)
}

// IgnoredText lists the keys without a meaning here by their sections, "" if there are none.
func (c *Config) IgnoredText() string {
	var sections []string
	count := map[string]int{}
	for _, key := range c.Ignored {
		section := key
		if i := strings.LastIndexByte(key, '.'); i >= 0 {
			section = key[:i]
		}
		if count[section]++; count[section] == 1 {
			sections = append(sections, section)
		}
	}
	var list []string
	for _, s := range sections {
		switch n := count[s]; {
		case slices.Contains(c.Ignored, s):
			list = append(list, s)
		case n == 1:
			i := slices.IndexFunc(c.Ignored, func(key string) bool { return strings.HasPrefix(key, s+".") })
			list = append(list, c.Ignored[i])
		default:
			list = append(list, fmt.Sprintf("%s (%d keys)", s, n))
		}
	}
	return strings.Join(list, ", ")
}

// finite reports whether a number is one.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
