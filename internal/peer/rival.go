// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Rival is a program that does the work of a race: a script in scripts/peers, which
// prepares it, answers with a line of JSON {"ready": VERSION}, and then does it as often
// as each line that it reads says, and answers {"wall": s, "cpu": s, "units": n,
// "check": x}. scripts/peers/serve.py does that for functions of Python.
type Rival struct {
	Name   string
	Script string
	Args   []string
	Input  any // written to the script first, as a line of JSON, unless nil

	Own func() (Done, error) // other work of ours in place of a program, which the race is compared with
}

// longest is how long a rival may live; one that hangs is killed then, and counts as absent.
const longest = 20 * time.Minute

// child is a rival that runs.
type child struct {
	version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	errors  *strings.Builder
	cancel  context.CancelFunc // kills it
	repeat  int
}

// start starts a rival that may use some threads.
func (r Rival) start(t testing.TB, threads int) (*child, error) {
	python := os.Getenv("EURYALE_PYTHON")
	if python == "" {
		python = filepath.Join(root(t), ".peers", "bin", "python")
	}
	if _, err := exec.LookPath(python); err != nil {
		return nil, fmt.Errorf("there is no Python for comparisons: run make peers, or set EURYALE_PYTHON")
	}
	script := filepath.Join(root(t), "scripts", "peers", r.Script)
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	c := &child{cmd: exec.CommandContext(ctx, python, append([]string{"-W", "ignore", script}, r.Args...)...), errors: &strings.Builder{}, cancel: cancel}
	c.cmd.Env = append(os.Environ(), "PEER_THREADS="+strconv.Itoa(threads), "PEER_ROOT="+root(t))
	for _, name := range []string{"OMP", "MKL", "OPENBLAS", "NUMBA"} {
		c.cmd.Env = append(c.cmd.Env, name+"_NUM_THREADS="+strconv.Itoa(threads))
	}
	c.cmd.Stderr = c.errors
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if r.Input != nil {
		if err := json.NewEncoder(c.in).Encode(r.Input); err != nil {
			return nil, c.failed(err)
		}
	}
	var ready struct{ Ready string }
	if err := c.answer(&ready); err != nil {
		return nil, err
	}
	c.version = ready.Ready
	return c, nil
}

// answer reads a line of what the rival prints.
func (c *child) answer(v any) error {
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return c.failed(err)
	}
	if err := json.Unmarshal(line, v); err != nil {
		return c.failed(fmt.Errorf("it printed %q: %w", line, err))
	}
	return nil
}

// failed ends the rival, and returns its last words.
func (c *child) failed(err error) error {
	c.stop()
	words := strings.Split(strings.TrimSpace(c.errors.String()), "\n")
	if last := words[len(words)-1]; last != "" {
		return fmt.Errorf("%s", last)
	}
	return err
}

// run does the work. Between its turns the rival rests, since threads of BLAS that wait for work take processor time from others.
func (c *child) run() (measurement, error) {
	rest(c.cmd.Process, false)
	defer rest(c.cmd.Process, true)
	if c.repeat == 0 { // the first run warms up
		if _, err := c.times(1); err != nil {
			return measurement{}, err
		}
		m, err := c.times(1)
		if err != nil {
			return m, err
		}
		c.repeat = 1 + int(leastTime.Seconds()/max(m.Wall, 1e-9))
	}
	return c.times(c.repeat)
}

func (c *child) times(n int) (m measurement, err error) {
	if _, err := fmt.Fprintln(c.in, n); err != nil {
		return m, c.failed(err)
	}
	if err := c.answer(&m); err != nil {
		return m, err
	}
	return m, m.plausible()
}

// plausible reports answers that measure nothing.
func (m measurement) plausible() error {
	if !(m.Wall > 0 && m.CPU > 0 && m.Units > 0) {
		return fmt.Errorf("the program reports %g s of wall-clock time, %g s of processor time and %g units of work: want more than 0 of each", m.Wall, m.CPU, m.Units)
	}
	return nil
}

// stop ends the rival: it sees the end of its input, and is killed if it goes on.
func (c *child) stop() {
	rest(c.cmd.Process, false)
	c.in.Close()
	kill := time.AfterFunc(5*time.Second, c.cancel)
	_ = c.cmd.Wait()
	kill.Stop()
	c.cancel()
}
