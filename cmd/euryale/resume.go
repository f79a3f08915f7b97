package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// withResume says that a command goes on with a folder of its results, and so takes
// --resume.
func withResume(c *cobra.Command) *cobra.Command {
	all := map[string]string{"resume": "yes"}
	maps.Copy(all, c.Annotations)
	c.Annotations = all
	return c
}

// besideResume are the flags that say how a command speaks and where it computes. All
// others are settings of the run, which its folder holds.
var besideResume = []string{"resume", "json", "quiet", "strict", "log-level", "device", "precision"}

// reopen reads the config of the run to resume. Arguments and flags that the run folder
// decides are refused, but for those in takes.
func (a *app) reopen(c *cobra.Command, command string, args []string, config any, takes ...string) (rundir, error) {
	given := slices.Clone(args)
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(besideResume, f.Name) && !slices.Contains(takes, f.Name) {
			given = append(given, "--"+f.Name)
		}
	})
	if len(given) > 0 {
		return "", usage("--resume takes its problem and its settings from the run folder: leave out %s", strings.Join(given, ", "))
	}
	dir := rundir(a.resume)
	var ran struct {
		Command string `json:"command"`
	}
	if err := dir.readConfig(&ran); err != nil {
		return "", err
	}
	switch ran.Command {
	case command:
		return dir, dir.readConfig(config)
	case "":
		return "", as(exitData, fmt.Errorf("%s names no command: is the file whole?", dir.path("config.json")))
	}
	return "", as(exitConfig, fmt.Errorf("%s is a run of %q: want %s", dir, ran.Command, command))
}

// checkpointOf names the checkpoint of a run, or none.
func (a *app) checkpointOf(dir rundir) string {
	if name := dir.path("checkpoint"); exists(name) {
		return name
	}
	a.note("%s has no checkpoint yet: starting over", dir)
	return ""
}
