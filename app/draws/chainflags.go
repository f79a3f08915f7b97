// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/report"
)

// ChainConfig is the part of config.json that all sample commands share. Together with
// the rest of the file it is enough to resume the run later without the data file.
type ChainConfig struct {
	Command string `json:"command"`
	Version string `json:"version"`
	File    string `json:"file"`
	Chains  int    `json:"chains"`
	Warmup  int    `json:"warmup"`
	Draws   int    `json:"draws"`
	// Target acceptance rate for the step size; 0 leaves the choice to the sampler.
	Target   float64     `json:"target_accept"`
	Depth    int         `json:"max_tree_depth"`
	Seed     uint64      `json:"seed"`
	Every    string      `json:"checkpoint_every"`
	Starts   [][]float64 `json:"starts"`
	NoReport bool        `json:"no_report,omitempty"`
	Retries  int         `json:"retries"`
	Attempt  int         `json:"attempt"` // number of attempts that finished before this one
	// Disagreed is where chains of earlier attempts were that disagreed with each other.
	Disagreed []disagreed `json:"disagreed,omitempty"`
	Device    string      `json:"device,omitempty"` // device that computes the log density: cpu, or a GPU such as cuda:0
}

// DefaultChains returns the default settings with the given target acceptance rate.
func DefaultChains(target float64) ChainConfig {
	return ChainConfig{Chains: 4, Warmup: 1000, Draws: 1000, Target: target, Depth: 10, Every: "10s", Retries: 1}
}

// Add declares the flags, with d as their defaults.
func (cfg *ChainConfig) Add(c *cobra.Command, d ChainConfig) {
	f := c.Flags()
	f.IntVar(&cfg.Chains, "chains", d.Chains, "number of independent chains")
	f.IntVar(&cfg.Warmup, "warmup", d.Warmup, "warm-up draws per chain, which adapt the sampler and are discarded")
	f.IntVar(&cfg.Draws, "draws", d.Draws, "draws to keep per chain")
	aim := "target acceptance rate used to adapt the step size, in (0, 1)"
	if d.Target == 0 {
		aim += " (default 0.8, raised if there are divergences)"
	}
	f.Float64Var(&cfg.Target, "target-accept", d.Target, aim)
	f.IntVar(&cfg.Depth, "max-tree-depth", d.Depth, "depth at which trajectories stop growing, after 2^depth - 1 steps")
	f.IntVar(&cfg.Retries, "retries", d.Retries, "number of more careful attempts after a bad verdict")
	f.BoolVar(&cfg.NoReport, "no-report", false, "draw no pictures and write no report")
	f.StringVar(&cfg.Every, "checkpoint", d.Every, "time between checkpoints")
	cfg.Target = d.Target
}

// LeaveTo adopts the model's own settings for flags that the user did not set.
func (cfg *ChainConfig) LeaveTo(chosen func(flag string) bool, own infer.Config) {
	if own.Draws > 0 && !chosen("draws") {
		cfg.Draws = own.Draws
	}
	if own.TargetAccept > 0 && !chosen("target-accept") {
		cfg.Target = own.TargetAccept
	}
}

// Check reports all flags that are out of range at once, appended to those in bad.
func (cfg *ChainConfig) Check(bad ...string) error {
	bad = append(bad, frame.Whole("chains", cfg.Chains, 1, 1<<16)...)
	bad = append(bad, frame.Whole("warmup", cfg.Warmup, 1, math.MaxInt32)...)
	bad = append(bad, frame.Whole("draws", cfg.Draws, 1, math.MaxInt32)...)
	bad = append(bad, frame.Whole("max-tree-depth", cfg.Depth, 1, 20)...)
	bad = append(bad, frame.Whole("retries", cfg.Retries, 0, 100)...)
	if cfg.Target != 0 && !(cfg.Target > 0 && cfg.Target < 1) { // 0 stands for the default
		bad = append(bad, fmt.Sprintf("--target-accept %g: want a number between 0 and 1, such as 0.9", cfg.Target))
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
