// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Scaling says how contrast and offset depend on the angle.
type Scaling string

// The ways, under their names in configurations (per_angle_mode).
const (
	ScalingAuto       Scaling = "auto" // best of the others by an information criterion
	ScalingIndividual Scaling = "individual"
	ScalingAveraged   Scaling = "averaged"
	ScalingFourier    Scaling = "fourier"
	ScalingConstant   Scaling = "constant"
)

// Method says how the parameters are inferred.
type Method string

// The methods.
const (
	LeastSquares Method = "nlsq"
	Sampling     Method = "nuts" // posterior by NUTS; the configuration's mcmc and cmc mean the same
	Both         Method = "both"
)

// Config is the content of a configuration, with defaults for what it leaves out.
type Config struct {
	File  string // name of the file that the configuration was read from
	Model Model

	Data      string  // file of correlations, as named in the configuration; see Path
	Q         float64 // value of q in 1/angstrom; 0 stands for the only one in the data
	Tolerance float64 // tolerance of q; see Selection
	Angles    AngleFilter
	First     int // first frame, from 1
	Last      int // last frame; 0 stands for the last one of the data
	Step      float64
	Clock     Clock
	Gap       float64 // distance between the plates in angstroms. Default 2e6
	GapFrom   string  // the key or flag that gives Gap; "" for the default
	Azimuths  string  // text file of angles in degrees, for simulations; "" for none

	Parameters []Parameter // parameters of the motion, in the order of Model.Names
	Contrast   Parameter
	Offset     Parameter
	// Contrasts and Offsets are starting values for each angle; nil if there are none. A single number
	// applies to all angles.
	Contrasts, Offsets []float64
	Scaling            Scaling
	Harmonics          int // number of harmonics of ScalingFourier. Default 2

	// Customary asks for the numbers of homodyne, xpcsjax and heterodyne instead of exact ones. It is
	// set by the value homodyne of the key shear.
	Customary bool
	Band      int // half-width of the band beside the diagonal whose entries are left out. Default 0

	Method  Method
	NLSQ    NLSQ
	Sampler Sampler
	// Noise also estimates the scatter of the data.
	Noise bool

	Output string // folder of the results, as named; "" if the configuration does not give it
	Plots  Plots

	Notices []string // messages for the user
	Ignored []string // keys that have no meaning here, in the order of the file
}

// NLSQ holds the settings of least squares. Zeros stand for the defaults of the method.
type NLSQ struct {
	Iterations       int
	FTol, XTol, GTol float64
	Loss             string // loss function: linear, soft_l1, huber, cauchy or arctan; "" if the configuration does not give it
	// Starts is the number of starting points and Refined the number of them that are followed to the
	// end. 0 stands for a single start.
	Starts, Refined int
	Seed            uint64
	// Evolution searches with CMA-ES first.
	Evolution              bool
	EvolutionGenerations   int
	EvolutionPopulation    int
	EvolutionSigma         float64
	ScreenFraction         float64
	ReducedChiSquaredLimit float64
}

// Sampler holds the settings of sampling. Zeros stand for the defaults of the method.
type Sampler struct {
	Warmup, Draws, Chains int
	Accept                float64 // target acceptance rate used to adapt the step size
	Depth                 int     // largest depth of the tree of a trajectory
	// Dense makes the metric dense.
	Dense bool
	Seed  uint64
}

// Plots says which plots to make.
type Plots struct {
	Save      bool
	Format    string // file format: png, pdf or svg
	DPI       int
	Low, High float64 // limits of the colours, if Fixed
	Fixed     bool
}

func defaults() *Config {
	return &Config{Gap: 2e6, First: 1, Scaling: ScalingAuto, Harmonics: 2, Method: LeastSquares, Contrast: parameter("contrast"), Offset: parameter("offset")}
}

// Selection returns the part of the data to read.
func (c *Config) Selection() Selection {
	return Selection{Q: c.Q, Tolerance: c.Tolerance, Angles: c.Angles, First: c.First, Last: c.Last, Step: c.Step}
}

// Parameter returns a parameter of the motion by any of its names. It returns nil if the model has no
// such parameter.
func (c *Config) Parameter(name string) *Parameter {
	name = c.Model.Name(name)
	for i := range c.Parameters {
		if c.Parameters[i].Name == name {
			return &c.Parameters[i]
		}
	}
	return nil
}

// Path returns the path of a file that the configuration names: relative to the working directory, or
// to the folder of the configuration.
func (c *Config) Path(name string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("homodyne: %s names no file of data: give experimental_data.file_path", c.File)
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
	return "", fmt.Errorf("homodyne: %s names a file that cannot be found: %w", c.File, err)
}

// IgnoredText lists, by section, the keys that have no meaning here. It returns "" if there are none.
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
