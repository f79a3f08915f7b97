package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/infer"
)

// chainConfig is the part of config.json that every sample command has. With the
// rest of the file it is all that is needed to continue on another day without
// the data file.
type chainConfig struct {
	Command  string      `json:"command"`
	Version  string      `json:"version"`
	File     string      `json:"file"`
	Chains   int         `json:"chains"`
	Warmup   int         `json:"warmup"`
	Draws    int         `json:"draws"`
	Target   float64     `json:"target_accept"` // 0: what the sampler chooses
	Depth    int         `json:"max_tree_depth"`
	Seed     uint64      `json:"seed"`
	Every    string      `json:"checkpoint_every"`
	Starts   [][]float64 `json:"starts"`
	NoReport bool        `json:"no_report,omitempty"`
	Retries  int         `json:"retries"`
	Attempt  int         `json:"attempt"` // finished attempts before this one
}

// defaultChains holds the defaults, but for the aim of the step size.
func defaultChains(target float64) chainConfig {
	return chainConfig{Chains: 4, Warmup: 1000, Draws: 1000, Target: target, Depth: 10, Every: "10s", Retries: 1}
}

// add declares the flags with the defaults d.
func (cfg *chainConfig) add(c *cobra.Command, d chainConfig) {
	f := c.Flags()
	f.IntVar(&cfg.Chains, "chains", d.Chains, "independent chains")
	f.IntVar(&cfg.Warmup, "warmup", d.Warmup, "draws per chain that adapt and are dropped")
	f.IntVar(&cfg.Draws, "draws", d.Draws, "draws per chain that are kept")
	aim := "aim of the step size, in (0, 1)"
	if d.Target == 0 {
		aim += " (default 0.8, and higher near divergences)"
	}
	f.Float64Var(&cfg.Target, "target-accept", d.Target, aim)
	f.IntVar(&cfg.Depth, "max-tree-depth", d.Depth, "longest trajectory is 2^depth - 1 steps")
	f.IntVar(&cfg.Retries, "retries", d.Retries, "more careful attempts after a bad verdict")
	f.BoolVar(&cfg.NoReport, "no-report", false, "draw no pictures and write no report")
	f.StringVar(&cfg.Every, "checkpoint", d.Every, "time between checkpoints")
	cfg.Target = d.Target
}

// leaveTo takes a model's own settings for the flags that were not chosen.
func (cfg *chainConfig) leaveTo(chosen func(flag string) bool, own infer.Config) {
	if own.Draws > 0 && !chosen("draws") {
		cfg.Draws = own.Draws
	}
	if own.TargetAccept > 0 && !chosen("target-accept") {
		cfg.Target = own.TargetAccept
	}
}

// check lists all flags that are out of range at once, after those in bad.
func (cfg *chainConfig) check(bad ...string) error {
	bad = append(bad, whole("chains", cfg.Chains, 1, 1<<16)...)
	bad = append(bad, whole("warmup", cfg.Warmup, 1, math.MaxInt32)...)
	bad = append(bad, whole("draws", cfg.Draws, 1, math.MaxInt32)...)
	bad = append(bad, whole("max-tree-depth", cfg.Depth, 1, 20)...)
	bad = append(bad, whole("retries", cfg.Retries, 0, 100)...)
	if cfg.Target != 0 && !(cfg.Target > 0 && cfg.Target < 1) {
		bad = append(bad, fmt.Sprintf("--target-accept %g: want a number between 0 and 1, such as 0.9", cfg.Target))
	}
	if d, err := time.ParseDuration(cfg.Every); err != nil || d <= 0 {
		bad = append(bad, fmt.Sprintf("--checkpoint %q: want a time such as 10s", cfg.Every))
	}
	if len(bad) > 0 {
		return usage("%s", strings.Join(bad, "; "))
	}
	return nil
}

// whole says what is wrong with the number of a flag, if anything.
func whole(flag string, v, low, high int) []string {
	if v < low || v > high {
		return []string{fmt.Sprintf("--%s %d: want %d to %d", flag, v, low, high)}
	}
	return nil
}
