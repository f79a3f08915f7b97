// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// Reopen reads the settings of the run to resume, where cfg is a part of config. With --draws, the run is continued until its chains have
// as many draws.
func (cfg *ChainConfig) Reopen(a *frame.App, c *cobra.Command, command string, args []string, config any) (runs.Folder, error) {
	flag := c.Flags().Lookup("draws")
	asked, err := strconv.Atoi(flag.Value.String()) // before the settings of the folder replace it
	if err != nil {
		return "", exit.With(exit.Bug, err)
	}
	*cfg = ChainConfig{} // the run folder has all settings
	dir, err := a.Reopen(c, command, args, config, "threads", "draws")
	if err != nil || !flag.Changed {
		return dir, err
	}
	return dir, cfg.extend(a, dir, asked)
}

// extend asks for another number of draws per chain. The folder is told when sampling begins.
func (cfg *ChainConfig) extend(a *frame.App, dir runs.Folder, draws int) error {
	if cfg.MethodKind() == infer.SMC {
		return exit.Usage("--draws %d: the run in %s is one of tempered Monte Carlo (smc), whose draws move together from the priors to the posterior, so that none can be added: leave out --draws, or begin a new run with it", draws, dir)
	}
	made := max(cfg.Extends, 1)
	if cfg.Finished(dir) {
		made = cfg.Draws
	} else if name := dir.Checkpoint(); name != "" {
		n, err := infer.CheckpointDraws(name)
		if err != nil {
			return a.Unreadable(dir, err)
		}
		made = max(made, n)
	}
	if draws < made {
		return exit.Usage("--draws %d: the run in %s has %d draws per chain: give more than %d to add to them, or begin a new run", draws, dir, made, made)
	}
	if cfg.Finished(dir) && draws > cfg.Draws {
		cfg.Extends = cfg.Draws
	}
	cfg.asked, cfg.Draws = cfg.Draws != draws, draws
	return nil
}

// Finished reports whether the results in the folder of a run are those of the settings.
func (cfg *ChainConfig) Finished(dir runs.Folder) bool {
	return cfg.Extends == 0 && foreign.Exists(dir.Path("summary.json"))
}
