// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Config is the content of a configuration file of rvspecfit. Velocities are in km/s.
type Config struct {
	File string `yaml:"-"` // name of the file that the configuration was read from; "" if there is none

	// Library is the folder of the templates, or a file in the open format.
	Library string  `yaml:"template_lib"`
	MinVel  float64 `yaml:"min_vel"`
	MaxVel  float64 `yaml:"max_vel"`
	// VelStep is the step of scans over all velocities. LeastVelStep is the step below which they are
	// not refined.
	VelStep      float64 `yaml:"vel_step0"`
	LeastVelStep float64 `yaml:"min_vel_step"`
	MaxVsini     float64 `yaml:"max_vsini"`
	// Continuum makes first guesses divide the spectra by the continuum.
	Continuum bool `yaml:"ccf_continuum_normalize"`
	// Sigma0 is the standard deviation of the lines of the templates, in Angstrom, by arm (b, r, z). It
	// is removed from resolution matrices.
	Sigma0 map[string]float64 `yaml:"lsf_sigma0_angstrom"`

	// Unused lists the keys that have no meaning here, in the order of the file.
	Unused []string `yaml:"-"`
}

// DefaultConfig returns the settings of an empty file.
func DefaultConfig() *Config {
	return &Config{MinVel: -1000, MaxVel: 1000, VelStep: 5, LeastVelStep: 0.2, MaxVsini: 500, Continuum: true, Sigma0: map[string]float64{"b": 0.5, "r": 0.5, "z": 0.5}}
}

// known are keys of the reference that need no setting here: there is one kind of search, and rotation
// starts at 0.
var known = []string{"second_minimizer", "min_vsini"}

// ReadConfig reads a configuration in YAML. Keys that it leaves out keep their defaults.
func ReadConfig(name string) (*Config, error) {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c := DefaultConfig()
	c.File = name
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(doc.Content) == 0 {
		return c, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: the file is not a list of keys and values: write lines such as template_lib: FOLDER", name)
	}
	if err := top.Decode(c); err != nil {
		return nil, fmt.Errorf("%s: %s", name, plainly(err))
	}
	keys := []string{"template_lib", "min_vel", "max_vel", "vel_step0", "min_vel_step", "max_vsini", "ccf_continuum_normalize", "lsf_sigma0_angstrom"}
	for i := 0; i < len(top.Content); i += 2 {
		if k := top.Content[i].Value; !slices.Contains(keys, k) && !slices.Contains(known, k) {
			if near := spelling.Meant(k, keys); near != "" {
				k += " (did you mean " + near + "?)"
			}
			c.Unused = append(c.Unused, k)
		}
	}
	return c, c.Check()
}

var unmarshal = regexp.MustCompile("cannot unmarshal !!\\w+ `?([^`]*)`? into (\\S+)")

// plainly says in other words what a value should be.
func plainly(err error) string {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) || len(wrong.Errors) == 0 {
		return err.Error()
	}
	m := unmarshal.FindStringSubmatch(wrong.Errors[0])
	if m == nil {
		return wrong.Errors[0]
	}
	want := map[string]string{"float64": "a number", "bool": "true or false", "string": "text"}[m[2]]
	if want == "" {
		want = "a number for each arm, such as {b: 0.5}"
	}
	line, _, _ := strings.Cut(wrong.Errors[0], ":")
	return fmt.Sprintf("%s: the value %s is of the wrong kind: want %s", line, m[1], want)
}

// light is the speed of light in km/s.
const light = 299792.458

// Check returns an error that says what is wrong with the settings.
func (c *Config) Check() error {
	var list []error
	say := func(format string, v ...any) {
		at := c.File
		if at == "" {
			at = "settings"
		}
		list = append(list, fmt.Errorf(at+": "+format, v...))
	}
	if !(c.MinVel < c.MaxVel) || math.IsInf(c.MinVel, 0) || math.IsInf(c.MaxVel, 0) {
		say("min_vel is %g and max_vel is %g: want velocities in km/s, the smaller one first", c.MinVel, c.MaxVel)
	}
	if !(c.VelStep > 0) || !(c.LeastVelStep > 0) || math.IsInf(c.VelStep, 1) || math.IsInf(c.LeastVelStep, 1) {
		say("vel_step0 is %g and min_vel_step is %g: want steps above 0, in km/s", c.VelStep, c.LeastVelStep)
	}
	if n := (c.MaxVel - c.MinVel) / c.VelStep; n > 1e6 {
		say("from min_vel %g to max_vel %g in steps of vel_step0, %g, there are %.3g velocities: want at most 1e6, so narrow the range or take larger steps", c.MinVel, c.MaxVel, c.VelStep, n)
	}
	if !(c.MaxVsini > 0 && c.MaxVsini < light) {
		say("max_vsini is %g: want a velocity above 0 in km/s that is below the speed of light", c.MaxVsini)
	}
	for _, arm := range slices.Sorted(maps.Keys(c.Sigma0)) {
		if s := c.Sigma0[arm]; !(s > 0) || math.IsInf(s, 1) {
			say("lsf_sigma0_angstrom of arm %s is %g: want a width above 0 in Angstrom", arm, s)
		}
	}
	return errors.Join(list...)
}

// Templates returns the location of the templates: relative to the working directory, as the
// configuration gives it, or to the folder of the configuration.
func (c *Config) Templates() (string, error) {
	if c.Library == "" {
		return "", errors.New("no library of templates is given: set template_lib in the configuration, or name a library")
	}
	_, err := os.Stat(c.Library)
	if err == nil {
		return c.Library, nil
	}
	if errors.Is(err, fs.ErrNotExist) && c.File != "" && !filepath.IsAbs(c.Library) {
		beside := filepath.Join(filepath.Dir(c.File), c.Library)
		if _, e := os.Stat(beside); e == nil {
			return beside, nil
		}
	}
	return "", fmt.Errorf("the library of templates cannot be found: %w: correct its name, which --library or template_lib in the configuration gives", err)
}

// Setups lists the arms for which a folder of rvspecfit has an interpolator, sorted.
func Setups(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var list []string
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), "interp_"); ok {
			if name, ok = strings.CutSuffix(name, ".h5"); ok {
				list = append(list, name)
			}
		}
	}
	return list, err
}
