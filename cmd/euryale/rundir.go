package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// rundir is the folder of one run.
//
//	.euryale         says that the folder is one of ours
//	.lock            the process that writes here, while it runs
//	config.json      command, version, resolved settings, data, starts
//	checkpoint       state of all chains, replaced as a whole while sampling
//	chain-N.csv      draws, as CmdStan writes them
//	draws.zarr       the same with statistics, log-likelihoods, data and predicted data,
//	                 as ArviZ takes them; commands read these
//	fit.json         the point fit that the chains started from
//	summary.json     the document of the command
//	diagnose.txt     the checks in words
//	plots/, report.html
type rundir string

// makeRundir creates the folder and locks it; an existing one that is not empty is
// refused.
func (a *app) makeRundir(name string) (rundir, error) {
	if err := a.vacant(name); err != nil {
		return "", err
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return "", as(exitCannotWrite, err)
	}
	if err := a.lock(name); err != nil {
		return "", err
	}
	if err := a.vacant(name); err != nil { // another run may have come and gone
		return "", err
	}
	if a.overwrite {
		if err := clearRundir(name); err != nil {
			return "", as(exitCannotWrite, err)
		}
	}
	return rundir(name), writeFile(filepath.Join(name, marker), []byte("A folder of results of euryale "+version()+".\n"))
}

// marker is a file in every folder that a command has made, or found empty.
const marker = ".euryale"

// isRundir reports whether a folder is one of ours, whose files --overwrite may remove.
func isRundir(name string) bool {
	var c struct{ Command string }
	return exists(filepath.Join(name, marker)) || rundir(name).readConfig(&c) == nil && c.Command != ""
}

// vacant refuses a folder with something in it, unless that may be overwritten. What a
// killed process left before its first file does not count.
func (a *app) vacant(name string) error {
	entries, err := os.ReadDir(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return as(exitCannotWrite, err)
	}
	free := !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() != runlock.Name && e.Name() != marker && !atomicfile.Temporary(e.Name())
	})
	switch {
	case free:
		return nil
	case a.overwrite && isRundir(name):
		if stays := rundir(name).foreignDraws(); stays != "" {
			return &exitError{code: exitCannotWrite, err: fmt.Errorf("%s %s: nothing in it is overwritten", rundir(name).path("draws.zarr"), stays), hint: "another --out"}
		}
		return nil
	case a.overwrite:
		return &exitError{code: exitCannotWrite, err: fmt.Errorf("%s holds files and is no folder of results: nothing in it is overwritten", name), hint: "another --out"}
	}
	return &exitError{code: exitCannotWrite, err: fmt.Errorf("%s exists and is not empty", name), hint: a.insteadOf(name)}
}

// insteadOf lists what can be done about a folder that is not empty.
func (a *app) insteadOf(name string) string {
	if !isRundir(name) {
		return "another --out"
	}
	var ran struct {
		Command string `json:"command"`
	}
	if err := rundir(name).readConfig(&ran); err != nil || "euryale "+ran.Command != a.command {
		return "--overwrite, or another --out"
	}
	return "--overwrite, --resume " + name + ", or another --out"
}

// clearRundir removes all that a run may have left, and nothing else.
func clearRundir(name string) error {
	old := []string{"checkpoint", "config.json", "fit.json", "summary.json", "diagnose.txt", "report.html", "morphology.h5", "trace.csv", "measures.csv", "brain.snapshot", "profile.txt", "connectome.npz", "training.csv"}
	for _, pattern := range []string{"chain-[0-9].csv", "chain-[0-9][0-9].csv", "chain-[0-9][0-9][0-9].csv", "plots/*.svg", "plots/*.png", "snapshots/*.snapshot"} {
		found, err := filepath.Glob(filepath.Join(name, pattern))
		if err != nil {
			return err
		}
		for _, f := range found {
			rel, err := filepath.Rel(name, f)
			if err != nil {
				return err
			}
			old = append(old, rel)
		}
	}
	if store := filepath.Join(name, "draws.zarr"); zarr.Is(store) {
		if err := os.RemoveAll(store); err != nil {
			return err
		}
	}
	for _, f := range old {
		if err := os.Remove(filepath.Join(name, f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (r rundir) path(elem ...string) string {
	return filepath.Join(append([]string{string(r)}, elem...)...)
}

// readConfig reads config.json into v.
func (r rundir) readConfig(v any) error {
	b, err := foreign.ReadFile(r.path("config.json"))
	if err != nil {
		return &exitError{code: exitNoInput, err: fmt.Errorf("%s is not a run folder: %w", r, err), hint: "the folder given to --out"}
	}
	if err := json.Unmarshal(b, v); err != nil {
		return as(exitData, fmt.Errorf("%s: %w", r.path("config.json"), err))
	}
	return nil
}

// foreignDraws says what is in draws.zarr besides a store, if anything.
func (r rundir) foreignDraws() string {
	if store := r.path("draws.zarr"); zarr.Is(store) {
		return foreignInStore(store)
	}
	return ""
}

// mostStored is how many numbers of new data a run folder keeps: 40 MB. Of larger
// models draw them when they are needed, with Fit.PosteriorPredictive.
const mostStored = 5_000_000

// kept counts the draws of all chains.
func kept(fit *infer.Fit) (n int) {
	for c := range fit.Chains() {
		n += fit.Len(c)
	}
	return n
}

// saveDraws writes one table per chain, and all as labelled arrays.
func (r rundir) saveDraws(fit *infer.Fit, settings map[string]string) error {
	tree, err := fit.Data(infer.DataSettings{Predictive: fit.Observations()*kept(fit) <= mostStored})
	if err != nil {
		return as(exitBug, err)
	}
	if stays := r.foreignDraws(); stays != "" {
		return as(exitCannotWrite, fmt.Errorf("%s %s: nothing in it is overwritten", r.path("draws.zarr"), stays))
	}
	if err := zarr.Write(r.path("draws.zarr"), tree, zarr.Settings{Overwrite: true}); err != nil {
		return as(exitCannotWrite, err)
	}
	chains, err := stancsv.Chains(tree)
	if err != nil {
		return as(exitBug, err)
	}
	for i, c := range chains {
		c.Settings = maps.Clone(settings)
		c.Settings["id"] = strconv.Itoa(i + 1)
		if t := fit.Timing(); len(t) == len(chains) {
			c.Elapsed = &stancsv.Elapsed{Warmup: t[i].Warmup.Seconds(), Sampling: t[i].Sampling.Seconds()}
		}
		var b strings.Builder
		if err := c.Write(&b); err != nil {
			return as(exitBug, err)
		}
		if err := writeFile(r.path(fmt.Sprintf("chain-%d.csv", i+1)), []byte(b.String())); err != nil {
			return err
		}
	}
	return nil
}
