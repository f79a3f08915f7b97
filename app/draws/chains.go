// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/report"
)

// ChainConfig is the part of config.json that all sample commands share. Together with
// the rest of the file it is enough to resume the run later without the data file.
type ChainConfig struct {
	Command string `json:"command"`
	Version string `json:"version"`
	File    string `json:"file"`
	setting.Sampler
	Seed     uint64      `json:"seed"`
	Every    string      `json:"checkpoint_every" name:"checkpoint" default:"10s" about:"time between checkpoints"`
	Starts   [][]float64 `json:"starts"`
	NoReport bool        `json:"no_report,omitempty" about:"draw no pictures and write no report"`
	Retries  int         `json:"retries" low:"0" high:"100" about:"number of more careful attempts after a bad verdict"`
	Attempt  int         `json:"attempt"` // number of attempts that finished before this one
	// Extends is the number of draws per chain of the results in the folder while a run is continued for more, and otherwise 0.
	Extends int  `json:"extends,omitempty"`
	asked   bool // Draws has changed since config.json was written
	// Repeated says what was wrong about the draws of each earlier attempt.
	Repeated []string `json:"repeated,omitempty"`
	// Disagreed is where chains of earlier attempts were that disagreed with each other.
	Disagreed []disagreed `json:"disagreed,omitempty"`
	// Missed are the modes that the draws of earlier attempts lacked.
	Missed []missedBefore `json:"missed,omitempty"`
	// Places are unconstrained places of earlier attempts: modes that they lacked, and the ends of their chains.
	Places [][]float64 `json:"places,omitempty"`
	Device string      `json:"device,omitempty"` // device that computes the log density: cpu, or a GPU such as cuda:0
}

// DefaultChains returns the default settings, with those of an analysis.
func DefaultChains(own setting.Sampler) ChainConfig {
	cfg := ChainConfig{Retries: 1, Sampler: own}
	if err := setting.Complete(&cfg); err != nil {
		panic(err)
	}
	return cfg
}

// Add declares the flags, with d as their defaults.
func (cfg *ChainConfig) Add(c *cobra.Command, d ChainConfig) {
	setting.Copy(cfg, d)
	frame.AddSettings(c, "", cfg)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if cfg.MethodKind() != infer.SMC {
			return nil
		}
		for _, name := range []string{"warmup", "target-accept", "max-tree-depth", "coordinates"} {
			if c.Flags().Changed(name) {
				return exit.Usage("--%s does nothing with --sampler smc, which has no warm-up and no trees: leave it out", name)
			}
		}
		return nil
	}
}

// LeaveTo adopts the settings of a model or a configuration for flags that the user did not set.
func (cfg *ChainConfig) LeaveTo(chosen func(flag string) bool, own setting.Sampler) {
	setting.Default(&cfg.Sampler, own, chosen)
}

// Check reports all flags that are out of range at once, appended to those in bad.
func (cfg *ChainConfig) Check(bad ...string) error {
	for _, e := range setting.Mistakes(cfg) {
		bad = append(bad, "--"+e.Name+" "+e.Text)
	}
	if d, err := time.ParseDuration(cfg.Every); err != nil || d <= 0 {
		bad = append(bad, fmt.Sprintf("--checkpoint %q: want a time such as 10s", cfg.Every))
	}
	if len(bad) > 0 {
		return exit.Usage("%s", strings.Join(bad, "; "))
	}
	return nil
}

// PageOf is page for a run that another version may have started.
func PageOf(a *frame.App, cfg *ChainConfig) report.Settings {
	s := a.Page(cfg.Seed)
	s.Program, s.Device = cfg.Version, cfg.Device
	return s
}
