// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/app/exit"
)

// Bounds of the works of a page.
const (
	mostAtWork = 2       // commands that run at a time
	mostWorks  = 200     // commands that the page remembers
	mostSaid   = 1 << 20 // bytes that are kept of what a command says
)

// work is a command that was started from the page. It is a process of its own, which ends as by Ctrl-C when
// the page does. Where the page is killed, it ends when it next writes a line; a run can then be resumed from its last checkpoint.
type work struct {
	ID    int       `json:"id"`
	Line  string    `json:"line"`
	Out   string    `json:"out"` // folder of the run, or ""
	Began time.Time `json:"began"`
	State string    `json:"state"` // running, done, failed or stopped
	Code  int       `json:"code"`
	Said  string    `json:"said"`

	process *os.Process
	output  *said
	stopped bool
}

// said keeps the end of what a command prints. Progress that is redrawn in place keeps its last line.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write takes some output.
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text.Len()+len(b) > mostSaid {
		old := s.text.String()
		s.text.Reset()
		s.text.WriteString(old[max(0, len(old)-mostSaid/2):])
	}
	s.text.Write(b[:min(len(b), mostSaid/2)])
	return len(b), nil
}

// String returns the lines as a terminal shows them.
func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(s.text.String(), "\n")
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

// works are the commands of a page, the newest last.
type works struct {
	program string // path of the program
	name    string // name by which people call it

	mu   sync.Mutex
	list []*work
}

// start runs a command.
func (w *works) start(args []string, out string) (*work, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, o := range w.list {
		if o.State == "running" {
			n++
		}
	}
	if n >= mostAtWork {
		return nil, fmt.Errorf("%d commands are running: wait until one has finished, or stop one", n)
	}
	if len(w.list) >= mostWorks {
		w.list = w.list[1:]
	}
	c := exec.Command(w.program, args...)
	o := &said{}
	c.Stdout, c.Stderr = o, o
	apart(c)
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("the command cannot be started: %w", err)
	}
	k := &work{ID: 1, Line: typed(w.name, args), Out: out, Began: time.Now(), State: "running", process: c.Process, output: o}
	if len(w.list) > 0 {
		k.ID = w.list[len(w.list)-1].ID + 1
	}
	w.list = append(w.list, k)
	go w.wait(c, k)
	return k, nil
}

// wait records how a command ended.
func (w *works) wait(c *exec.Cmd, k *work) {
	err := c.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	k.Code = c.ProcessState.ExitCode()
	switch {
	case err == nil:
		k.State = "done"
	case k.stopped || k.Code == exit.Interrupted:
		k.State = "stopped"
	default:
		k.State = "failed"
	}
}

// all returns the commands with what they said, the newest first.
func (w *works) all() []work {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := []work{}
	for i := len(w.list) - 1; i >= 0; i-- {
		k := *w.list[i]
		k.Said = k.output.String()
		list = append(list, k)
	}
	return list
}

// stop asks a command to end as Ctrl-C does, so that it keeps what it has.
func (w *works) stop(id int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.list {
		if k.ID != id {
			continue
		}
		if k.State != "running" {
			return fmt.Errorf("%s has ended already", k.Line)
		}
		k.stopped = true
		return interrupt(k.process)
	}
	return errors.New("there is no such command: reload the page")
}

// end stops what runs when the page is closed, and waits for it.
func (w *works) end(ctx context.Context) {
	for _, k := range w.all() {
		if k.State == "running" {
			w.stop(k.ID)
		}
	}
	for ctx.Err() == nil {
		running := false
		for _, k := range w.all() {
			running = running || k.State == "running"
		}
		if !running {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
