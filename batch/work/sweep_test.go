// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package work

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/batch"
)

// Names that tables or braces do not take, and files that would lie on each other, are refused when the list
// is made, not when all is done.
func TestSweepNames(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "in.txt"), "{x}")
	write(t, filepath.Join(dir, "b", "in.txt"), "{x}")
	write(t, filepath.Join(dir, "points.csv"), "x,my-y\n1,2\n")
	write(t, filepath.Join(dir, "good.csv"), "x\n1\n")
	for text, want := range map[string]string{
		"grid: {x: [1]}\ntake: {item: v}":                      "take: a column cannot be called item",
		"grid: {x: [1]}\ntake: {draw: v}":                      "take: a column cannot be called draw",
		"grid: {x: [1]}\ntake: {a/b: v}":                       "take: a column cannot be called a/b",
		"grid: {x: [1]}\ntake: {..: v}":                        "take: a column cannot be called ..",
		"grid: {x: [1], chain: [2]}":                           "grid: the name chain is reserved",
		"grid: {x: [1], my-y: [2]}":                            `grid: "my-y" is not a name: use letters, digits and _`,
		"points: points.csv":                                   `points.csv: column 2: "my-y" is not a name: use letters`,
		"points: good.csv\ntake: {x: v}":                       "take: x is also a column of good.csv",
		"grid: {x: [1]}\ntemplate: {s: a/in.txt, t: b/in.txt}": "template: the files of s and t are both called in.txt",
	} {
		config := filepath.Join(dir, "c.yaml")
		write(t, config, "work: sweep\nprogram: /bin/echo\ncommand: '{x}'\n"+text+"\n")
		l, err := Read(config)
		if err == nil {
			_, err = l.Create(filepath.Join(t.TempDir(), "manifest.txt"))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A command that prints without end is cut off, or nobody keeps what it prints; of what it says the end is kept.
func TestSweepOfCommandsThatPrintALot(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "c.yaml")
	for more, want := range map[string]string{"take: {v: v}\n": "it printed more than 67108864 bytes", "": ""} {
		write(t, config, "work: sweep\nprogram: /bin/sh\ncommand: [-c, 'head -c {n} /dev/zero; head -c 3000000 /dev/zero >&2; echo Error: the end >&2; exit {code}']\ngrid: {n: [70000000], code: [0, 7]}\nretries: 0\n"+more)
		l, err := Read(config)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Create(filepath.Join(t.TempDir(), "manifest.txt"))
		if err != nil {
			t.Fatal(err)
		}
		list := done(t, m, 1)
		if want != "" && !strings.Contains(list[0].Err, want) || want == "" && (list[0].Err != "" || !strings.HasSuffix(list[1].Err, "exit status 7: Error: the end")) {
			t.Errorf("%q: %.300s", more, fmt.Sprint(list))
		}
	}
}

// Processes that do the same item at the same time do not write into each other's folder, which has its name
// when one has ended well, and keeps it.
func TestSweepFoldersOfOneItem(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "c.yaml")
	write(t, config, `work: sweep
program: /bin/sh
command: [-c, 'mkdir "{out}" && for i in 1 2 3 4 5; do echo $i > "{out}/$i"; sleep 0.02; done; test {fail} != $(cat `+dir+`/fail)']
grid: {fail: [0]}
retries: 0
`)
	write(t, filepath.Join(dir, "fail"), "1")
	m := made(t, config)
	points := filepath.Join(m.Folder(), "points")
	for _, left := range []string{"000000000.partial-999999999-", "000000000.partial-999999999-%s.old"} {
		host, _ := os.Hostname()
		if !strings.Contains(left, "%s") {
			left += "%s"
		}
		write(t, filepath.Join(points, fmt.Sprintf(left, host), "1"), "")
	}
	write(t, filepath.Join(points, "000000000.partial-1-elsewhere.example", "1"), "")
	var beside sync.WaitGroup
	for k := range 4 {
		task, err := Open(m, Env{})
		if err != nil {
			t.Fatal(err)
		}
		beside.Go(func() {
			alone := *task.(*sweepTask)
			alone.process = fmt.Sprintf("%s-%d", ofThisProcess(), k) // as of four processes
			alone.Do(context.Background(), batch.Range{Count: 1}, func(r batch.Record) {
				if r.Err != "" {
					t.Error(r.Err)
				}
			})
		})
	}
	beside.Wait()
	look := func() {
		entries, _ := os.ReadDir(points)
		files, _ := os.ReadDir(filepath.Join(points, "000000000"))
		if len(entries) != 2 || len(files) != 5 {
			t.Errorf("%v, %v", entries, files)
		}
	}
	look()
	write(t, filepath.Join(dir, "fail"), "0") // another try fails: what was there stays
	if list := done(t, m, 1); list[0].Err == "" || strings.Contains(list[0].Err, leftEnding) {
		t.Error(list[0].Err)
	}
	os.RemoveAll(filepath.Join(points, "000000000"+ofThisProcess()))
	look()
}

// A command that takes too long ends with what it has started.
func TestSweepLimitEndsAllProcesses(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: sweep\nprogram: /bin/sh\ncommand: [-c, '(echo $$ > "+dir+"/{a}; while true; do sleep 0.05; date > "+dir+"/alive; done) & wait; true']\ngrid: {a: [a]}\nretries: 0\nlimit: 300ms\n")
	task, err := Open(made(t, config), Env{})
	if err != nil {
		t.Fatal(err)
	}
	task.(*sweepTask).grace = 200 * time.Millisecond
	task.Do(context.Background(), batch.Range{Count: 1}, func(r batch.Record) {
		if !strings.Contains(r.Err, "the command took longer than the limit of 300ms") {
			t.Error(r.Err)
		}
	})
	os.Remove(filepath.Join(dir, "alive"))
	time.Sleep(300 * time.Millisecond)
	if _, err := os.Stat(filepath.Join(dir, "alive")); err == nil {
		t.Error("what the command started goes on")
	}
}

// Folders and files may be called like patterns.
func TestFilesCalledLikePatterns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `run[1]*\?`)
	curves(t, filepath.Join(dir, "a[2].csv"), 1, 1)
	curves(t, filepath.Join(dir, "a2.csv"), 1, 1)
	config := filepath.Join(dir, "c.yaml")
	for pattern, want := range map[string]int64{"a[2].csv": 1, "a*.csv": 2, "'a[0-9].csv'": 1, "../*/a2.csv": 1, "'" + dir + "/a2.csv'": 1} {
		write(t, config, "work: fit g2\nfiles: "+pattern+"\n")
		l, err := Read(config)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := l.Create(filepath.Join(t.TempDir(), "manifest.txt")); err != nil || m.Items != want {
			t.Errorf("%s: %v, %v, want %d files", pattern, m, err, want)
		}
	}
}

// A program beside the configuration is found when the list is worked on from that folder or from the one above.
func TestSweepCallsAProgramBesideItsConfiguration(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in", "mine.sh"), "#!/bin/sh\n[ $1 != 3 ] || exit 4\n")
	if err := os.Chmod(filepath.Join(dir, "in", "mine.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "in", "c.yaml"), "work: sweep\nprogram: ./mine.sh\ncommand: '{x}'\ngrid: {x: [1, 3]}\nretries: 0\n")
	for _, from := range []string{"in", "."} {
		t.Chdir(filepath.Join(dir, from))
		config, err := filepath.Rel(filepath.Join(dir, from), filepath.Join(dir, "in", "c.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		list := done(t, made(t, config), 1)
		if list[0].Err != "" || list[1].Err != "mine.sh 3: exit status 4" {
			t.Errorf("from %s: %q, %q", from, list[0].Err, list[1].Err)
		}
		os.RemoveAll(filepath.Join(dir, "in", "out"))
	}
}
