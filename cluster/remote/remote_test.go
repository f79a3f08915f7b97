// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"gocloud.dev/blob/memblob"

	"github.com/euryale-dev/euryale/batch"
)

// stores are places of each kind: a folder, memory, and a server that speaks like S3.
func stores(t *testing.T, f func(t *testing.T, b *Bucket)) {
	t.Run("mem", func(t *testing.T) {
		b := &Bucket{b: memblob.OpenBucket(nil), prefix: "some/prefix/", name: "mem://x"}
		defer b.Close()
		f(t, b)
	})
	t.Run("file", func(t *testing.T) {
		b, err := Open(t.Context(), "file://"+t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		f(t, b)
	})
	t.Run("s3", func(t *testing.T) {
		b, err := Open(t.Context(), s3Server(t)+"&x=")
		if err == nil {
			t.Error("an option was taken that does not exist")
		}
		b, err = Open(t.Context(), s3Server(t))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		f(t, b)
	})
}

// s3Server starts a server and returns the URL of a folder there.
func s3Server(t *testing.T) string {
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "something")
	back := s3mem.New()
	if err := back.CreateBucket("runs"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(back, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(s.Close)
	return "s3://runs/some/prefix?region=any&use_path_style=true&endpoint=" + url.QueryEscape(s.URL)
}

func put(t *testing.T, b *Bucket, key, text string) {
	t.Helper()
	if err := b.b.WriteAll(context.Background(), b.prefix+key, []byte(text), nil); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A file is fetched once for each version that it has, whoever asks.
func TestCache(t *testing.T) {
	stores(t, func(t *testing.T, b *Bucket) {
		c := Cache(t.TempDir())
		big := strings.Repeat("0123456789abcdef", 1<<16)
		put(t, b, "a/one.h5", big)
		paths := make([]string, 20)
		var wg sync.WaitGroup
		for i := range paths {
			wg.Go(func() {
				var err error
				if paths[i], err = c.fetch(t.Context(), b, "a/one.h5"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, p := range paths {
			if text, err := os.ReadFile(p); p != paths[0] || err != nil || string(text) != big || filepath.Base(p) != "one.h5" {
				t.Fatalf("%s: %d bytes, %v", p, len(text), err)
			}
		}
		put(t, b, "a/one.h5", "another version")
		p, err := c.fetch(t.Context(), b, "a/one.h5")
		if text, e := os.ReadFile(p); err != nil || e != nil || string(text) != "another version" || p == paths[0] {
			t.Fatal(p, err, e)
		}
		var none *AccessError
		if _, err := c.fetch(t.Context(), b, "a/two.h5"); !errors.As(err, &none) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nothing of that name") {
			t.Error(err)
		}
	})
}

// What a folder has comes into another one, and what is there already is not moved again.
func TestPushAndPull(t *testing.T) {
	stores(t, func(t *testing.T, b *Bucket) {
		from, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
		for i := range 40 {
			write(t, filepath.Join(from, "tables", fmt.Sprint("file-", i)), strings.Repeat("x", i*1000))
		}
		for _, name := range []string{"leader/token", "mine/key", "mine/token", "mine/address", "mine/jetstream/x", ".lock", "queue/.euryale-tmp-part-9-12345678"} {
			write(t, filepath.Join(from, name), "not for others")
		}
		if m, err := b.Push(t.Context(), from); err != nil || m.Files != 40 || m.Bytes != 780_000 || m.Same != 0 {
			t.Fatalf("%+v, %v", m, err)
		}
		if m, err := b.Pull(t.Context(), to); err != nil || m.Files != 40 || m.Bytes != 780_000 {
			t.Fatalf("%+v, %v", m, err)
		}
		write(t, filepath.Join(from, "tables", "file-7"), "changed")
		if m, err := b.Push(t.Context(), from); err != nil || m.Files != 1 || m.Same != 39 {
			t.Fatalf("%+v, %v", m, err)
		}
		if m, err := b.Pull(t.Context(), to); err != nil || m.Files != 1 || m.Same != 39 {
			t.Fatalf("%+v, %v", m, err)
		}
		for i := range 40 {
			a, err1 := os.ReadFile(filepath.Join(from, "tables", fmt.Sprint("file-", i)))
			b, err2 := os.ReadFile(filepath.Join(to, "tables", fmt.Sprint("file-", i)))
			if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
				t.Error(i, err1, err2)
			}
		}
		if list, err := os.ReadDir(to); err != nil || len(list) != 1 {
			t.Error(list, err)
		}
	})
}

// What cannot be copied is told at the end, and the rest is copied; what a store has not completed is not copied, and removed when it is
// old.
func TestTheRestIsCopied(t *testing.T) {
	store, to, from := t.TempDir(), t.TempDir(), t.TempDir()
	b, err := Open(t.Context(), "file://"+store)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	young, old := filepath.Join(store, "shard-00000-of-00001", "part-000001-ABCDEFGH.18ec66dceb1fa76a.tmp"), filepath.Join(store, "part-000002-ABCDEFGH.18ec66dceb1fa76b.tmp")
	for _, name := range []string{young, old, filepath.Join(store, "..__0x2f__out"), filepath.Join(store, "esc\x1b[31m"), filepath.Join(from, "x.18ec66dceb1fa76b.tmp")} {
		write(t, name, "half")
	}
	if err := os.Symlink("/nowhere", filepath.Join(store, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		write(t, filepath.Join(store, "z", fmt.Sprint(i)), "whole")
	}
	m, err := b.Pull(t.Context(), to)
	var left *LeftOutError
	if !errors.As(err, &left) || len(left.Errs) != 3 || m.Files != 30 || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("%+v, %v", m, err)
	}
	if list, err := os.ReadDir(to); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	write(t, filepath.Join(from, "one"), "whole")
	if m, err := b.Push(t.Context(), from); err != nil || m.Files != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an abandoned file stays: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a file that may be growing was removed: %v", err)
	}
}

// A name that would leave the folder is refused.
func TestPullStaysInItsFolder(t *testing.T) {
	b := &Bucket{b: memblob.OpenBucket(nil), name: "mem://x"}
	defer b.Close()
	put(t, b, "../outside", "x")
	if _, err := b.Pull(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "cannot be the name of a file") {
		t.Error(err)
	}
}

// URLs are read as they are written, and those that cannot be are refused in words.
func TestURLs(t *testing.T) {
	for text, want := range map[string]place{
		"s3://b/p/q?region=x":     {"s3://b?region=x", "p/q", "s3://b/p/q"},
		"azblob://c":              {"azblob://c", "", "azblob://c"},
		"s3://key:secret@b/p":     {"s3://key:secret@b", "p", "s3://b/p"},
		"file:///a/b?metadata=no": {"file:///a/b?metadata=no&no_tmp_dir=true", "", "file:///a/b"},
	} {
		if got, err := parse(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"folder": "is not a URL", "file://folder/x": "three slashes", "s3:///key": "names no bucket", "ftp://a/b": "unknown kind of store",
	} {
		if _, err := Open(t.Context(), text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Cache(t.TempDir()).Fetch(t.Context(), "file:///"); err == nil {
		t.Error("a folder was fetched as a file")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.csv"), "1,2")
	p, err := Cache(t.TempDir()).Fetch(t.Context(), "file://"+dir+"/x.csv")
	if text, e := os.ReadFile(p); err != nil || e != nil || string(text) != "1,2" {
		t.Error(err, e)
	}
	if _, err := Open(t.Context(), "file://"+dir+"/none"); err == nil {
		t.Error("a folder was opened that is not there")
	}
}

// task gives its items as numbers.
type task struct{}

func (task) Columns() []batch.Column { return []batch.Column{{Name: "item"}} }

func (task) Do(_ context.Context, items batch.Range, put func(batch.Record)) error {
	for i := range items.Count {
		put(batch.Record{Item: items.Item + i, Numbers: []float64{float64(items.Item + i)}})
	}
	return nil
}

// Shards that were done on machines without a common folder are merged from a store that they all reach.
func TestMergeFromAStore(t *testing.T) {
	stores(t, func(t *testing.T, b *Bucket) {
		m, err := batch.Create(filepath.Join(t.TempDir(), "m"), batch.Header{Command: "x", Block: 7}, func(add func(string, int64, int64) error) error { return add("s", 0, 500) })
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			store := batch.Store(t.TempDir())
			if _, err := batch.Run(t.Context(), m, task{}, batch.Settings{Store: store, Shard: batch.Shard{Index: i, Count: 3}}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Push(t.Context(), string(store)); err != nil {
				t.Fatal(err)
			}
		}
		all := batch.Store(t.TempDir())
		if _, err := b.Pull(t.Context(), string(all)); err != nil {
			t.Fatal(err)
		}
		n := 0
		if _, err := all.Merge(m, func(r batch.Record) error {
			if r.Numbers[0] != float64(n) {
				t.Errorf("item %d is %v", n, r)
			}
			n++
			return nil
		}); err != nil || n != 500 {
			t.Error(n, err)
		}
	})
}

// A name that no store takes is told as such, and a store's name that leads out of the folder is refused.
func TestNamesThatCannotBe(t *testing.T) {
	b := &Bucket{b: memblob.OpenBucket(nil), name: "mem://x"}
	defer b.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\xff"), nil, 0o644); err != nil {
		t.Skip(err) // this file system does not take it either
	}
	if _, err := b.Push(t.Context(), dir); err == nil || !strings.Contains(err.Error(), `a\xff" is not UTF-8`) {
		t.Error(err)
	}
	if err := b.b.WriteAll(t.Context(), "../out", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Pull(t.Context(), filepath.Join(dir, "in")); err == nil || !strings.Contains(err.Error(), "mem://x/../out cannot be the name of a file") {
		t.Error(err)
	}
}
