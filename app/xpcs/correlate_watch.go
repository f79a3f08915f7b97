// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/internal/tune"
)

// movieEndings are the endings of files of frames.
var movieEndings = []string{".h5", ".hdf", ".hdf5", ".nxs", ".imm", ".bin", ".000", ".npy", ".raw"}

// arrival is a file in a watched folder.
type arrival struct {
	size  int64
	mod   time.Time
	since time.Time // when it was first seen so
	done  bool      // whether it was correlated so
}

// watch calls one with the files of a folder as they arrive and have stopped growing, until ctx ends or nothing
// came for the idle time. A file that changes later, such as one that was written with long pauses, is given to one again.
func watch(ctx context.Context, a *frame.App, f correlateFlags, one func(name string, again bool)) error {
	if info, err := os.Stat(f.Watch); err != nil {
		return exit.Input(err)
	} else if !info.IsDir() {
		return exit.Usage("--watch %s: want a folder", f.Watch)
	}
	a.Note("watching %s; press Ctrl-C to stop", f.Watch)
	seen, begun, last := map[string]*arrival{}, map[string]bool{}, time.Now()
	for {
		names, waiting, err := arrived(f, seen)
		if err != nil {
			return exit.Input(err)
		}
		for _, name := range names {
			if ctx.Err() != nil {
				return nil
			}
			if begun[name] {
				a.Note("%s has changed since it was correlated and will be correlated again", name)
			}
			one(name, begun[name])
			seen[name].done, begun[name], last = true, true, time.Now()
		}
		if waiting {
			last = time.Now()
		}
		if f.Idle > 0 && time.Since(last) > f.Idle {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(tune.WatchEvery):
		}
	}
}

// dataFile matches the files of EIGER detectors whose frames the master file NAME_master.h5 joins.
var dataFile = regexp.MustCompile(`^(.*)_data_[0-9]{6}\.h5$`)

// arrived lists files of frames that are complete and were not correlated as they are, in the order of their times, and says whether
// others still grow. seen is what it found before.
func arrived(f correlateFlags, seen map[string]*arrival) (names []string, growing bool, err error) {
	entries, err := os.ReadDir(f.Watch)
	if err != nil {
		return nil, false, err
	}
	joined := map[string]time.Time{} // when the newest data file of a master file changed
	for _, e := range entries {
		if m := dataFile.FindStringSubmatch(e.Name()); m != nil {
			if info, err := e.Info(); err == nil && info.ModTime().After(joined[m[1]+"_master.h5"]) {
				joined[m[1]+"_master.h5"] = info.ModTime()
			}
		}
	}
	for _, e := range entries {
		name := filepath.Join(f.Watch, e.Name())
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular() || sameFile(name, f.QMap) || sameFile(name, f.Metadata):
			continue
		case strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "_results.hdf") || strings.Contains(e.Name(), "_metadata.") || dataFile.MatchString(e.Name()):
			continue
		case !slices.Contains(movieEndings, strings.ToLower(filepath.Ext(e.Name()))):
			continue
		}
		now := stateOf(name, info)
		if t := joined[e.Name()]; t.After(now.mod) {
			now.mod = t
		}
		if was := seen[name]; was == nil || was.size != now.size || !was.mod.Equal(now.mod) {
			seen[name] = &now
		}
		switch at := seen[name]; {
		case at.done:
		case time.Since(at.mod) < tune.Settled && time.Since(at.since) < tune.Settled: // clocks of servers may be ahead
			growing = true
		default:
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return seen[a].mod.Compare(seen[b].mod) })
	return names, growing, nil
}

// stateOf returns size and time of a file, of all its modules together for a detector that writes several.
func stateOf(name string, info os.FileInfo) arrival {
	at := arrival{size: info.Size(), mod: info.ModTime(), since: time.Now()}
	if stem, ok := strings.CutSuffix(name, ".000"); ok {
		for _, module := range []string{".001", ".002", ".003", ".004", ".005"} {
			if info, err := os.Stat(stem + module); err == nil {
				at.size += info.Size()
				if info.ModTime().After(at.mod) {
					at.mod = info.ModTime()
				}
			}
		}
	}
	return at
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
