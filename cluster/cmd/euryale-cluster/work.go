// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/cluster/queue"
)

func (a *app) work() *cobra.Command {
	var s queue.WorkSettings
	var at queue.Access
	var store, token string
	var may allowed
	c := &cobra.Command{
		Use:   "work URL",
		Short: "Process items for a leader",
		Long: `Process items for the leader whose server has this URL, until none is left.

Results go to the leader's folder, which this machine must have too. SIGTERM
ends the worker, which first finishes its items or hands them back.

The token proves to the worker that the server is the leader's, and to the
leader that it may take part; it is not sent. A worker starts no program that
a list asks for, as sweeps do, unless --allow names it or --manifest the list.

  euryale-cluster work tls://node1:4222 --token-file run/results/leader/token
  srun --ntasks 8 euryale-cluster work tls://node1:4222 --wait 5m
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if open == nil {
				return &exitError{code: exitBug, err: errors.New("this program was built without any kind of work: install a complete build")}
			}
			at.URL = args[0]
			if s.Threads > 0 { // for the garbage collector too
				runtime.GOMAXPROCS(min(s.Threads, runtime.GOMAXPROCS(0)))
			}
			var err error
			if at.Token, err = tokenOf(c.Context(), token, at.Wait); err != nil {
				return err
			}
			may.Any = s.Manifest != ""
			s.Store, s.Alone = batch.Store(store), may.alone
			s.Open = func(m *batch.Manifest) (batch.Task, error) { return open(m, may) }
			s.Note = func(text string) { a.note("%s", text) }
			did, err := queue.Work(c.Context(), at, s)
			if bad := (*queue.TokenError)(nil); errors.As(err, &bad) && bad.Name == "" {
				bad.Name = token
			}
			if err != nil {
				return err
			}
			return a.say(did, "This worker processed %d items in %[3]d messages; %[2]d items failed.%[4]s", did.Items, did.Failed, did.Messages, map[bool]string{true: " The run is complete."}[did.Ended])
		},
	}
	f := c.Flags()
	f.StringVar(&token, "token-file", "", "file with the leader's token (default EURYALE_TOKEN)")
	f.StringVar(&at.Creds, "creds", "", "file of NATS credentials, for a server with accounts")
	f.DurationVar(&at.Wait, "wait", 0, "time to wait for a leader that has not started yet")
	f.StringVar(&s.Manifest, "manifest", "", "path of the leader's manifest on this machine; needed without the leader's token")
	f.StringArrayVar(&may.Programs, "allow", nil, "program that may be started for items, such as euryale for sweeps; may be repeated")
	f.StringVar(&store, "store", "", "path of the leader's folder of results, if it is different on this machine (default with --creds: results beside --manifest)")
	f.IntVar(&s.Threads, "threads", 0, "number of messages to process at a time (default all processors)")
	f.DurationVar(&s.Grace, "grace", 10*time.Second, "time to finish the current items when the worker is told to end")
	f.DurationVar(&s.Lost, "lost", 10*time.Minute, "time to wait for a leader that has stopped answering")
	return c
}

// alone is a process of this program that does items by themselves.
func (may allowed) alone(ctx context.Context, manifest string, store batch.Store, items []batch.Span) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.CommandContext(ctx, self, "apart", "--", manifest, string(store))
	list, _ := json.Marshal(errand{may, items}) // numbers and names
	cmd.Stdin = bytes.NewReader(list)
	return cmd
}

// errand is what a worker writes to the standard input of the process that does items for it.
type errand struct {
	Allowed allowed      `json:"allowed"`
	Items   []batch.Span `json:"items"`
}

// apart does the items that it reads for a worker, whose process it is to outlive or not.
func (a *app) apart() *cobra.Command {
	return &cobra.Command{
		Use: "apart MANIFEST STORE", Short: "Process items for a worker, which starts this command itself", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if open == nil {
				return &exitError{code: exitBug, err: errors.New("this program was built without any kind of work: install a complete build")}
			}
			m, err := batch.Open(args[0])
			if err != nil {
				return err
			}
			q, err := batch.Store(args[1]).Queue(m)
			if err != nil {
				return err
			}
			var to errand
			if err := json.NewDecoder(a.stdin).Decode(&to); err != nil {
				return &exitError{code: exitUsage, err: fmt.Errorf("the list of items on standard input cannot be read: %w", err)}
			}
			t, err := open(m, to.Allowed)
			if err != nil {
				return err
			}
			return q.DoApart(c.Context(), t, to.Items, a.stdout)
		},
	}
}
