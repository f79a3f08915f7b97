// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/cluster/queue"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// mostListed is the number of failed items that lead prints.
const mostListed = 20

func (a *app) lead() *cobra.Command {
	var s queue.LeadSettings
	var store, url, token, creds string
	c := &cobra.Command{
		Use:   "lead MANIFEST",
		Short: "Distribute the items of a manifest among workers",
		Long: `Distribute the items that have no result yet among workers, until every item has
one.

The leader starts a NATS server for the workers, or uses an existing one. You can
stop and restart the leader at any time; workers wait for it.

  euryale-cluster lead run/manifest.txt
  euryale-cluster lead run/manifest.txt --listen 0.0.0.0:4222
  euryale-cluster lead run/manifest.txt --server tls://nats.example.org --creds me.creds
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if store == "" {
				store = filepath.Join(filepath.Dir(args[0]), "results")
			}
			s.Store = batch.Store(store)
			if url != "" {
				if c.Flags().Changed("listen") {
					return &exitError{code: exitUsage, err: fmt.Errorf("--listen is for the leader's own server and --server for another one: give only one of them")}
				}
				t, err := tokenOf(c.Context(), token, 0)
				if err != nil {
					return err
				}
				s.Server = &queue.Access{URL: url, Token: t, Creds: creds}
			} else if token != "" || creds != "" {
				return &exitError{code: exitUsage, err: fmt.Errorf("--token-file and --creds are only for --server: leave them out, since the leader's own server makes its token")}
			}
			m, err := batch.Open(args[0])
			if err != nil {
				return err
			}
			m.Damaged = func(string, error) {} // the leader tells of them
			if err := work.CheckInputs(m, s.Store, batch.Whole, func(text string) { a.note("%s", text) }); err != nil {
				return &exitError{code: exitData, err: err}
			}
			s.Ready = func(at queue.Access) { a.ready(at, args[0], s) }
			last := time.Now()
			s.Progress = func(p queue.Progress) {
				if p.Done == p.Items || time.Since(last) > 10*time.Second {
					last = time.Now()
					a.note("%s", progressLine(p))
				}
			}
			s.Note = func(text string) { a.note("%s", text) }
			status, err := queue.Lead(c.Context(), args[0], s)
			if err != nil {
				return err
			}
			return a.led(args[0], s.Store, status)
		},
	}
	f := c.Flags()
	f.StringVar(&store, "store", "", "folder of results, which all machines share (default results beside the manifest)")
	f.StringVar(&s.Listen, "listen", "127.0.0.1:0", "address of the server; 0.0.0.0:4222 lets other machines connect")
	f.StringVar(&s.Folder, "folder", "", "folder for the server's data, its token and its address (default leader in the store)")
	f.StringVar(&url, "server", "", "URL of a NATS server with JetStream to use instead of the leader's own")
	f.StringVar(&token, "token-file", "", "file with the token of --server (default EURYALE_TOKEN)")
	f.StringVar(&creds, "creds", "", "file of NATS credentials for --server")
	f.DurationVar(&s.Block, "block", 500*time.Millisecond, "length of the work in a message, as the time that one thread takes for it")
	f.DurationVar(&s.Patience, "patience", 30*time.Second, "time after which the items of a silent worker are given to another one")
	return c
}

// ready says how workers come in.
func (a *app) ready(at queue.Access, manifest string, s queue.LeadSettings) {
	folder := s.Folder
	if folder == "" {
		folder = filepath.Join(string(s.Store), "leader")
	}
	how := "--token-file " + foreign.Typed(filepath.Join(folder, "token"))
	if s.Server != nil {
		how = "--manifest " + foreign.Typed(manifest) + " and the credentials of that server (--token-file or --creds)"
	} else if m, err := batch.Open(manifest); err == nil {
		if program, err := work.Program(m); err == nil && program != "" {
			how += " --allow " + foreign.Typed(program)
		}
	}
	a.note("Start workers with: euryale-cluster work %s %s", at, how)
	if s.Server == nil && at.Loopback() {
		a.note("The server listens on this machine only; give --listen 0.0.0.0:4222 to let other machines connect.")
	}
}

// progressLine says how far a run is.
func progressLine(p queue.Progress) string {
	line := fmt.Sprintf("%d of %d items, %d workers with %d threads", p.Done, p.Items, p.Workers, p.Threads)
	if p.Now > 0 {
		line += fmt.Sprintf(", %.4g items/s, %v left", p.Rate(), p.Left().Round(time.Second))
	}
	if p.Failed > 0 {
		line += fmt.Sprintf(", %d failed", p.Failed)
	}
	return line
}

// led lists the items that failed.
func (a *app) led(manifest string, store batch.Store, st *batch.Status) error {
	m, err := batch.Open(manifest)
	if err != nil {
		return err
	}
	m.Damaged = func(string, error) {}
	type failure struct {
		Item  int64  `json:"item"`
		Error string `json:"error"`
	}
	failures := []failure{}
	if st.Failed > 0 {
		if _, err := store.Merge(m, func(r batch.Record) error {
			if r.Err != "" && (a.json || len(failures) < mostListed) {
				failures = append(failures, failure{r.Item, r.Err})
			}
			return nil
		}); err != nil {
			return err
		}
	}
	for _, f := range failures {
		if !a.json {
			a.note("item %d: %s", f.Item, foreign.Short(f.Error, 300))
		}
	}
	if more := st.Failed - int64(len(failures)); more > 0 {
		a.note("and %d more", more)
	}
	err = a.say(map[string]any{"items": st.Items, "done": st.Done, "failed": st.Failed, "failures": failures, "store": string(store)},
		"%d items are done, %d of them failed. Results: %s", st.Done, st.Failed, store)
	if err == nil && a.strict && st.Failed > 0 {
		err = &exitError{code: exitFailed, err: fmt.Errorf("%d items failed: see their errors in the results", st.Failed)}
	}
	return err
}
