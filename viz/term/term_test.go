// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// run returns what a sampler reports at a time, in tenths of the run.
func run(tenth int) infer.Progress {
	p := infer.Progress{Elapsed: time.Duration(tenth) * 12 * time.Second}
	for c := range 4 {
		draw := min(2000, tenth*200+37*c)
		p.Chains = append(p.Chains, infer.ChainProgress{Chain: c, Draw: draw, Total: 2000, Warmup: draw < 1000,
			StepSize: 0.41 + 0.01*float64(c), Gradients: 7 * draw, Running: draw < 2000})
		if c == 2 && draw > 1200 {
			p.Chains[c].Divergences = 3
		}
	}
	return p
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden.txt")
	if *update {
		os.MkdirAll("testdata", 0o755)
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update rewrites it.\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestLogHasALineForEveryTenth(t *testing.T) {
	var b bytes.Buffer
	m := NewMeter(&b, MeterSettings{})
	for k := range 11 {
		m.Update(run(k))
		m.Update(run(k))
	}
	m.Close()
	<-m.screen.done
	golden(t, "log", b.String())
}

func TestTableStaysOnTheTerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	for _, c := range []struct {
		name   string
		set    MeterSettings
		tenths int
	}{
		{"early", MeterSettings{Mode: Redraw, NoColor: true, Width: 120}, 1},
		{"late", MeterSettings{Mode: Redraw, NoColor: true, Width: 120}, 8},
		{"done", MeterSettings{Mode: Redraw, NoColor: true, Width: 120}, 10},
		{"eighty", MeterSettings{Mode: Redraw, NoColor: true}, 8},
		{"narrow", MeterSettings{Mode: Redraw, NoColor: true, Width: 46}, 8},
		{"low", MeterSettings{Mode: Redraw, NoColor: true, Height: 5}, 8},
		{"colour", MeterSettings{Mode: Redraw, Width: 120}, 10},
	} {
		var b bytes.Buffer
		c.set.Every = time.Millisecond
		m := NewMeter(&b, c.set)
		for k := range c.tenths + 1 {
			m.Update(run(k))
			time.Sleep(2 * time.Millisecond)
		}
		m.Close()
		<-m.screen.done // Close has little patience
		golden(t, "table_"+c.name, strings.Join(show(b.String()), "\n")+"\n")
	}
}

var upAndErase = regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J`)

// show plays what was written on a terminal and returns its rows.
func show(s string) (rows []string) {
	for s != "" {
		if m := upAndErase.FindStringSubmatch(s); m != nil {
			n, _ := strconv.Atoi(m[1])
			rows, s = rows[:len(rows)-n], s[len(m[0]):]
			continue
		}
		line, rest, _ := strings.Cut(s, "\n")
		rows, s = append(rows, line), rest
	}
	return rows
}

var escape = regexp.MustCompile(`\x1b\[[0-9;]*[a-zA-Z]`)

func TestRowsNeverWrap(t *testing.T) {
	for width := 1; width < 140; width++ {
		m := NewMeter(&bytes.Buffer{}, MeterSettings{Mode: Redraw, Width: width})
		for _, row := range m.table(run(8)) {
			if n := len([]rune(escape.ReplaceAllString(row, ""))); n >= width && width > 40 {
				t.Fatalf("width %d: row of %d: %q", width, n, row)
			}
		}
		m.Close()
	}
}

func TestDumbTerminalsAndNoColor(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	t.Setenv("TERM", "xterm")
	if s := newScreen(&bytes.Buffer{}, Settings{Mode: Redraw}); s.color {
		t.Error("colour in spite of NO_COLOR")
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if s := newScreen(&bytes.Buffer{}, Settings{Mode: Redraw}); s.color {
		t.Error("colour on a dumb terminal")
	}
	if s := newScreen(&bytes.Buffer{}, Settings{}); s.mode != Lines {
		t.Error("a buffer is no terminal")
	}
}

func TestQuietWritesNothing(t *testing.T) {
	var b bytes.Buffer
	m := NewMeter(&b, MeterSettings{Mode: Quiet})
	m.Update(run(3))
	m.Close()
	bar := NewBar(&b, BarSettings{Settings: Settings{Mode: Quiet}, Total: 10})
	bar.Add(10, 0)
	bar.Close()
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}

// stopped is a terminal on which someone pressed Ctrl-S.
type stopped struct{ free chan struct{} }

func (s stopped) Write(p []byte) (int, error) { <-s.free; return len(p), nil }

// The terminal reads nothing until all is over: an Update or a Close that waited for
// it would never return.
func TestStoppedTerminalHoldsNothingUp(t *testing.T) {
	w := stopped{make(chan struct{})}
	defer close(w.free)
	m := NewMeter(w, MeterSettings{Mode: Redraw})
	for range 500 {
		m.Update(run(5))
	}
	m.Close()
}

func TestBarLog(t *testing.T) {
	var b bytes.Buffer
	at := time.Unix(0, 0)
	bar := NewBar(&b, BarSettings{Name: "fits", Total: 200, now: func() time.Time { return at }})
	for k := range 200 {
		at = at.Add(50 * time.Millisecond)
		failed := 0
		if k%70 == 69 {
			failed = 1
		}
		bar.Add(1, failed)
	}
	bar.Close()
	<-bar.screen.done
	golden(t, "bar", b.String())
}

func TestBarOnTerminal(t *testing.T) {
	var b bytes.Buffer
	at := time.Unix(0, 0)
	bar := NewBar(&b, BarSettings{Settings: Settings{Mode: Redraw, NoColor: true, Width: 100}, Name: "fits", Total: 1000, now: func() time.Time { return at }})
	at = at.Add(10 * time.Second)
	bar.Add(400, 3)
	bar.Close()
	<-bar.screen.done
	golden(t, "bar_terminal", strings.Join(show(b.String()), "\n")+"\n")
}

// A bar that is made when the first items are finished counts the time before.
func TestBarThatBeginsLater(t *testing.T) {
	var b bytes.Buffer
	at := time.Unix(100, 0)
	bar := NewBar(&b, BarSettings{Settings: Settings{Mode: Lines}, Name: "frames", Total: 100, Begin: at.Add(-2 * time.Second), now: func() time.Time { return at }})
	bar.Add(50, 0)
	bar.Close()
	<-bar.screen.done
	if text := b.String(); !strings.Contains(text, " 25/s") {
		t.Error(text)
	}
}

func TestBarFromManyGoroutines(t *testing.T) {
	var b bytes.Buffer
	bar := NewBar(&b, BarSettings{Name: "spectra", Total: 1000})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range 100 {
				bar.Add(1, 0)
			}
		})
	}
	wg.Wait()
	bar.Close()
	<-bar.screen.done
	if n := strings.Count(b.String(), "\n"); n != 10 {
		t.Errorf("%d lines, want 10:\n%s", n, b.String())
	}
}

func TestHTMLTable(t *testing.T) {
	if s := HTML(run(8)); strings.Count(s, "<tr>") != 5 || !strings.Contains(s, "1711/2000") {
		t.Error(s)
	}
}
