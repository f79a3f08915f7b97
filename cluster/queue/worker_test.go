// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/batch"
)

// behaviour is what the items of a test do; the settings of its manifest.
type behaviour struct {
	Sleep    time.Duration // of an item
	Spin     int           // steps of an item
	Poisoned int64         // every so many items fail
	Deadly   []int64       // end their process
}

// sines is the task of the tests.
type sines struct{ behaviour }

func open(m *batch.Manifest) (batch.Task, error) {
	s := &sines{}
	return s, json.Unmarshal(m.Settings, &s.behaviour)
}

func (s *sines) Columns() []batch.Column {
	return []batch.Column{{Name: "row", Kind: batch.Integer}, {Name: "value"}, {Name: "source", Kind: batch.Text}}
}

func (s *sines) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	for i := range items.Count {
		item := items.Item + i
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.Sleep > 0 {
			time.Sleep(s.Sleep)
		}
		for _, d := range s.Deadly {
			if d == item {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		x := 1.0
		for range s.Spin {
			x = math.Sqrt(x + 1)
		}
		if s.Poisoned > 0 && item%s.Poisoned == 13 {
			put(batch.Record{Item: item, Err: "a bad item"})
			continue
		}
		put(batch.Record{Item: item, Numbers: []float64{float64(items.Row + i), math.Sin(float64(batch.Seed(7, item)>>20)) + 0*x}, Texts: []string{items.Source}})
	}
	return nil
}

// Environment of processes that tests start.
const (
	roleVar   = "EURYALE_TEST_ROLE"
	runVar    = "EURYALE_TEST_RUN"
	spansVar  = "EURYALE_TEST_SPANS"
	accessVar = "EURYALE_TEST_ACCESS"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := act(role, folder(os.Getenv(runVar))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// folder of a run.
type folder string

func (f folder) manifest() string   { return filepath.Join(string(f), "manifest.txt") }
func (f folder) store() batch.Store { return batch.Store(filepath.Join(string(f), "results")) }

// access reads how to reach the leader.
func (f folder) access() Access {
	address, _ := os.ReadFile(filepath.Join(string(f.store()), "leader", addressFile))
	token, _ := os.ReadFile(filepath.Join(string(f.store()), "leader", tokenFile))
	return Access{URL: "tls://" + strings.TrimSpace(string(address)), Token: strings.TrimSpace(string(token))}
}

func (f folder) leading() LeadSettings {
	return LeadSettings{Store: f.store(), Patience: time.Second, Block: 50 * time.Millisecond}
}

func (f folder) working() WorkSettings {
	return WorkSettings{Open: open, Alone: alone, Threads: 1, Every: 50 * time.Millisecond}
}

func alone(ctx context.Context, manifest string, store batch.Store, items []batch.Span) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	b, _ := json.Marshal(items)
	cmd.Env = append(os.Environ(), roleVar+"=alone", runVar+"="+filepath.Dir(manifest), spansVar+"="+string(b))
	return cmd
}

// act is what a process does that a test started.
func act(role string, f folder) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch role {
	case "lead":
		_, err := Lead(ctx, f.manifest(), f.leading())
		return err
	case "lead-at", "work-at": // at a server that is given
		var a Access
		if err := json.Unmarshal([]byte(os.Getenv(accessVar)), &a); err != nil {
			return err
		}
		if role == "lead-at" {
			s := f.leading()
			s.Server = &a
			_, err := Lead(ctx, f.manifest(), s)
			return err
		}
		s := f.working()
		a.Wait, s.Manifest = 5*time.Second, f.manifest()
		_, err := Work(ctx, a, s)
		return err
	case "lead-plain":
		_, err := Lead(ctx, f.manifest(), LeadSettings{Store: f.store()})
		return err
	case "work":
		a := f.access()
		a.Wait = 5 * time.Second
		s := f.working()
		s.Grace = 100 * time.Millisecond
		_, err := Work(ctx, a, s)
		return err
	case "plain": // as a worker is without a test's impatience
		a := f.access()
		a.Wait = 10 * time.Second
		_, err := Work(ctx, a, WorkSettings{Open: open, Alone: alone, Threads: 1})
		return err
	case "local":
		m, err := batch.Open(f.manifest())
		if err != nil {
			return err
		}
		t, err := open(m)
		if err == nil {
			_, err = batch.Run(ctx, m, t, batch.Settings{Store: f.store(), Shard: batch.Whole, Workers: 2})
		}
		return err
	case "alone":
		m, err := batch.Open(f.manifest())
		if err != nil {
			return err
		}
		t, err := open(m)
		if err != nil {
			return err
		}
		q, err := f.store().Queue(m)
		if err != nil {
			return err
		}
		var spans []batch.Span
		if err := json.Unmarshal([]byte(os.Getenv(spansVar)), &spans); err != nil {
			return err
		}
		return q.DoApart(ctx, t, spans, os.Stdout)
	}
	return fmt.Errorf("role %q", role)
}

// process starts this program in a role.
func (f folder) process(t testing.TB, role string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, runVar+"="+string(f))
	said := &strings.Builder{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}

// at starts this program in a role at a server, with the certificates that it trusts.
func (f folder) at(t testing.TB, role string, a Access, roots string) *exec.Cmd {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, runVar+"="+string(f), accessVar+"="+string(b), "SSL_CERT_FILE="+roots, "SSL_CERT_DIR=/dev/null")
	cmd.Stderr = &strings.Builder{}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return cmd
}
