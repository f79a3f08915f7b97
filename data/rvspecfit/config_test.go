// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadConfig(t *testing.T) {
	dir := t.TempDir()
	read := func(text string) (*Config, error) {
		name := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return ReadConfig(name)
	}
	c, err := read("template_lib: lib\nmin_vel: -500\nmin_vsini: 0.01\nsecond_minimizer: true\nmax_vell: 3\nlsf_sigma0_angstrom: {b: 0.6}\nccf_continuum_normalize: false\n")
	if err != nil {
		t.Fatal(err)
	}
	if c.MinVel != -500 || c.MaxVel != 1000 || c.VelStep != 5 || c.Sigma0["b"] != 0.6 || c.Sigma0["z"] != 0.5 || c.Continuum || !slices.Equal(c.Unused, []string{"max_vell (did you mean max_vel?)"}) {
		t.Errorf("%+v", c)
	}
	// The library is beside the file, or in the working directory.
	if _, err := c.Templates(); err == nil {
		t.Error("a library that is not there")
	}
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o777); err != nil {
		t.Fatal(err)
	}
	if lib, err := c.Templates(); err != nil || lib != filepath.Join(dir, "lib") {
		t.Errorf("%s, %v", lib, err)
	}
	if c, err := read(""); err != nil || c.MaxVsini != 500 {
		t.Errorf("%+v, %v", c, err)
	}
	for says, text := range map[string]string{
		"line 1: the value abc is of the wrong kind: want a number": "max_vel: abc",
		"want true or false":       "ccf_continuum_normalize: 7",
		"for each arm":             "lsf_sigma0_angstrom: 3",
		"keys and values":          "- a",
		"the smaller one first":    "min_vel: 7\nmax_vel: 5",
		"above 0":                  "max_vsini: 0",
		"below the speed of light": "max_vsini: 1e9",
		"at most 1e6":              "vel_step0: 1e-9",
		"arm b is -1":              "lsf_sigma0_angstrom: {b: -1}",
		"config.yaml":              "\t",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v: want %q", text, err, says)
		}
	}
}
