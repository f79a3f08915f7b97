// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// surveyors are processes on several machines that fit the same files, each of which sees the folder of tables under a name of its own.
// The clock is that of a bubble of synctest.
type surveyors struct {
	t     *testing.T
	root  string
	mu    sync.Mutex
	rng   *rand.Rand
	awake [3]time.Time
	kept  map[string]map[int]bool // acknowledged rows with a fit, by table
	table map[string][]byte       // tables, when they were seen first
	late  int                     // tables that were there when another process came back
	redo  int                     // rows that were fitted although they had been acknowledged
}

const surveyRows = 6

func (s *surveyors) intN(n int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.Int64N(n)
}

// rest lets a process take its time, and suspends it now and then, with its touching of claims.
func (s *surveyors) rest(path string) {
	for k := range s.awake {
		if !strings.HasPrefix(path, filepath.Join(s.root, fmt.Sprint("m", k))) {
			continue
		}
		d := time.Duration(s.intN(int64(time.Second)))
		if s.intN(40) == 0 {
			d = time.Duration(s.intN(int64(5 * time.Minute)))
		}
		s.mu.Lock()
		if now := time.Now(); !s.awake[k].After(now) {
			s.awake[k] = now.Add(d)
		}
		d = time.Until(s.awake[k])
		s.mu.Unlock()
		time.Sleep(d)
	}
}

// fit stands for the fits of a file: rows whose values are always the same, one of which fails now and then, in a real journal, and a
// table of them.
func (s *surveyors) fit(ctx context.Context, name string, job fitfile.DESIJob) (*fitfile.DESIOutcome, error) {
	rows, done := make([]survey.Row, surveyRows), make([]bool, surveyRows)
	base := filepath.Base(job.Table)
	s.mu.Lock()
	var before []int
	for i := range s.kept[base] {
		before = append(before, i)
	}
	s.mu.Unlock()
	j, err := survey.OpenJournal(job.Table, "key", rows, done)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	for _, i := range before {
		if !foreign.Exists(job.Table) && !done[i] {
			s.t.Errorf("%s: row %d was acknowledged and is lost", base, i)
		}
	}
	for i := range rows {
		if done[i] {
			continue
		}
		s.rest(job.Table)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows[i] = survey.Row{Fitted: s.intN(6) > 0, VRad: float64(i), Others: make([]survey.Parameter, i)}
		if err := j.Add(rows, []int{i}); err != nil {
			return nil, err
		}
		s.mu.Lock()
		if s.kept[base] == nil {
			s.kept[base] = map[int]bool{}
		}
		if s.kept[base][i] {
			s.redo++
		}
		s.kept[base][i] = true
		s.mu.Unlock()
	}
	s.rest(job.Table)
	if !job.Wanted() {
		s.mu.Lock()
		s.late++
		s.mu.Unlock()
		return &fitfile.DESIOutcome{Fibers: surveyRows}, nil
	}
	err = atomicfile.Write(job.Table, !job.New, func(w io.Writer) error {
		for i, r := range rows {
			if r.VRad != float64(i) || len(r.Others) != i {
				s.t.Errorf("%s: row %d is %+v", base, i, r)
			}
		}
		_, err := fmt.Fprintf(w, "%+v", rows)
		return err
	})
	if err == nil {
		err = survey.RemoveJournal(job.Table)
	}
	return &fitfile.DESIOutcome{Fibers: surveyRows, Fitted: surveyRows}, err
}

// look compares the tables with what they were when they were seen first.
func (s *surveyors) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, _ := filepath.Glob(filepath.Join(s.root, "shared", "rvtab_*.fits"))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if was := s.table[name]; err != nil || was != nil && !bytes.Equal(was, b) {
			s.t.Errorf("%s was replaced: %v", name, err)
		}
		s.table[name] = b
	}
	if len(names) < len(s.table) {
		s.t.Errorf("%d tables of %d are there", len(names), len(s.table))
	}
}

// However processes on several machines are suspended while they fit the files of one list, are taken for dead and come back, no table
// is replaced, no row is lost that was in a journal, every file has its table in the end, and nothing else is left.
func TestClaimsOfSpectraLoseNothing(t *testing.T) {
	root := t.TempDir()
	late, redo := 0, 0
	for seed := range tier.Of(uint64(20), 1000) {
		synctest.Test(t, func(t *testing.T) {
			s := &surveyors{t: t, root: filepath.Join(root, fmt.Sprint(seed)), rng: rand.New(rand.NewPCG(seed, 3)), kept: map[string]map[int]bool{}, table: map[string][]byte{}}
			if err := os.MkdirAll(filepath.Join(s.root, "shared"), 0o755); err != nil {
				t.Fatal(err)
			}
			awake := atomicfile.Suspend(s.rest)
			restore := atomicfile.Inject(func(op, name string) error {
				s.rest(name)
				if op == "rename" {
					s.look()
				}
				return nil
			})
			defer func() { awake(); restore() }()
			var work sync.WaitGroup
			for k := range s.awake {
				dir := filepath.Join(s.root, fmt.Sprint("m", k))
				if err := os.Symlink("shared", dir); err != nil {
					t.Fatal(err)
				}
				work.Go(func() {
					// A process is started again until all tables are there, as with --skipexisting.
					for again := true; again; {
						again = false
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+s.intN(int64(10*time.Minute))))
						a := frame.New(nil, frame.Euryale, io.Discard, io.Discard)
						a.Quiet = true
						d := &desiFit{App: a, fit: s.fit, f: &desiFlags{NoSubdirs: true, TabPrefix: "rvtab", ModPrefix: "rvmod", SkipExisting: true}, dir: dir, p: &fitfile.Pipeline{}}
						for _, name := range []string{"a.fits", "b.fits"} {
							if err := d.one(ctx, name); err != nil {
								again = true
								break
							}
						}
						if !again {
							again = d.elsewhere(ctx) != nil
						}
						cancel()
						s.look()
						for _, f := range d.doc.Files {
							if f.Status == "FAILURE" && f.Message != "interrupted" && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
								t.Errorf("%+v", f)
							}
						}
						time.Sleep(time.Duration(s.intN(int64(time.Minute))))
					}
				})
			}
			work.Wait()
			time.Sleep(time.Hour) // for who touches a claim that is gone
			s.look()
			left, err := os.ReadDir(filepath.Join(s.root, "shared"))
			if err != nil || len(left) != 2 {
				t.Errorf("%v, %v", left, err)
			}
			late += s.late
			redo += s.redo
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d tables were there when a process came back, %d rows were fitted twice", late, redo)
	if late == 0 || redo == 0 {
		t.Error("no process was taken for dead and came back: the schedules do not try what they are for")
	}
}
