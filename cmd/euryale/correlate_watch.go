package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// watchEvery is the time between two looks at a folder, and settled the time for which a file must not have changed.
var watchEvery, settled = time.Second, 3 * time.Second

// movieEndings are the endings of files of frames.
var movieEndings = []string{".h5", ".hdf", ".hdf5", ".nxs", ".imm", ".bin", ".000", ".npy", ".raw"}

// watch calls one with the files of a folder as they arrive and have stopped growing, until ctx ends or nothing
// came for the idle time.
func (a *app) watch(ctx context.Context, f correlateFlags, one func(name string)) error {
	if info, err := os.Stat(f.Watch); err != nil {
		return input(err)
	} else if !info.IsDir() {
		return usage("--watch %s: want a folder", f.Watch)
	}
	a.note("watching %s; Ctrl-C ends it", f.Watch)
	done, last := map[string]bool{}, time.Now()
	for {
		names, waiting, err := arrived(f, done)
		if err != nil {
			return input(err)
		}
		for _, name := range names {
			if ctx.Err() != nil {
				return nil
			}
			one(name)
			done[name], last = true, time.Now()
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
		case <-time.After(watchEvery):
		}
	}
}

// dataFile matches the files of EIGER detectors whose frames the master file NAME_master.h5 joins.
var dataFile = regexp.MustCompile(`^(.*)_data_[0-9]{6}\.h5$`)

// arrived lists files of frames that are complete, in the order of their times, and says whether others still grow.
func arrived(f correlateFlags, done map[string]bool) (names []string, growing bool, err error) {
	entries, err := os.ReadDir(f.Watch)
	if err != nil {
		return nil, false, err
	}
	times, joined := map[string]time.Time{}, map[string]time.Time{} // joined: when the newest data file of a master file changed
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
		case err != nil || !info.Mode().IsRegular() || done[name] || sameFile(name, f.QMap) || sameFile(name, f.Metadata):
		case strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "_results.hdf") || strings.Contains(e.Name(), "_metadata.") || dataFile.MatchString(e.Name()):
		case !slices.Contains(movieEndings, strings.ToLower(filepath.Ext(e.Name()))):
		case time.Since(info.ModTime()) < settled || time.Since(joined[e.Name()]) < settled:
			growing = true
		default:
			names, times[name] = append(names, name), info.ModTime()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return times[a].Compare(times[b]) })
	return names, growing, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
