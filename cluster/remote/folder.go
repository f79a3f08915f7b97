// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// atOnce is the number of files that are on the way at a time.
const atOnce = 8

// Moved counts the files of a Push or Pull.
type Moved struct {
	// Files and Bytes count the files that were copied.
	Files, Bytes int64
	Same         int64 // number of files that were there already
}

// mostLeftOut is the number of files that cannot be copied after which nothing more is tried: the fault is then not theirs.
const mostLeftOut = 20

// LeftOutError says that some files could not be copied, while all others were.
type LeftOutError struct{ Errs []error }

// Error tells of each file.
func (e *LeftOutError) Error() string {
	var list []string
	for _, err := range e.Errs {
		list = append(list, err.Error())
	}
	if len(list) >= mostLeftOut {
		return fmt.Sprintf("%d files could not be copied, so that nothing more was tried: %s", len(list), strings.Join(list, "; "))
	}
	return fmt.Sprintf("all was copied but %s: %s", errtext.Count(len(list), "file"), strings.Join(list, "; "))
}

// Unwrap returns why the files were left out.
func (e *LeftOutError) Unwrap() []error { return e.Errs }

// alone reports whether an error concerns one file, so that the others can be copied.
func alone(err error) bool {
	return !errors.Is(err, context.Canceled) && !errors.Is(err, fs.ErrPermission) && atomicfile.Room(err) == ""
}

// unfinished matches the names that stores in folders give to files until they are complete; the digits are the time at which they were
// begun.
var unfinished = regexp.MustCompile(`\.[0-9a-f]{12,16}\.tmp$`)

// abandonedAfter is the time since the last byte after which an unfinished file of a store counts as one of a process that is no more.
const abandonedAfter = 10 * time.Minute

// transfer is a file that is on both sides, or on one.
type transfer struct {
	key, file string
	object    *blob.ListObject // nil if the store has none
	info      fs.FileInfo      // nil if the folder has none
}

// Push copies the files of a folder into a bucket. It leaves out files that the bucket already has,
// temporary files, what belongs to a process at work on a list (see [batch.IsLocal]), files whose names begin with a dot, and the folder of a queue's leader, which holds
// its keys: also one with another name. A file appears in the store once it is complete. What a killed process left unfinished in a store that
// is a folder is removed. Files that cannot be copied are left out and told in a *LeftOutError at the end.
//
// Files of results (see [batch.IsResults]) never change, so none is replaced: also not by a machine whose copy is older, or that does not
// see yet what another one has pushed. Any other file takes the place of that of the same name.
func (b *Bucket) Push(ctx context.Context, folder string) (Moved, error) {
	there := map[string]*blob.ListObject{}
	if err := b.list(ctx, func(key string, o *blob.ListObject) error {
		there[key] = o
		if unfinished.MatchString(key) && strings.HasPrefix(b.name, "file:") && time.Since(o.ModTime) > abandonedAfter {
			_ = b.b.Delete(ctx, b.prefix+key) // what cannot be removed stays, as nothing reads it
		}
		return nil
	}); err != nil {
		return Moved{}, err
	}
	return each(ctx, func(give func(transfer) bool, leave func(error) bool) error {
		return filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if name != folder && (strings.HasPrefix(d.Name(), ".") || d.IsDir() && (d.Name() == "leader" || leads(name))) {
				if d.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			if !d.Type().IsRegular() || batch.IsLocal(name) || unfinished.MatchString(name) {
				return nil
			}
			key, err := keyOf(folder, name)
			if err != nil {
				if !leave(err) {
					return filepath.SkipAll
				}
				return nil
			}
			info, err := d.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a worker's temporary file, or one that has another name now
			}
			if err != nil {
				return err
			}
			if !give(transfer{key: key, file: name, object: there[key], info: info}) {
				return filepath.SkipAll
			}
			return nil
		})
	}, b.up)
}

// keyOf returns the name in a store of a file of a folder.
func keyOf(folder, name string) (string, error) {
	rel, err := filepath.Rel(folder, name)
	if err != nil {
		return "", err
	}
	key := filepath.ToSlash(rel)
	if !utf8.ValidString(key) {
		return "", fmt.Errorf("the name %q is not UTF-8, which object stores require: rename the file", name)
	}
	return key, nil
}

// leads reports whether a folder is that of a queue's leader, by its files.
func leads(folder string) bool {
	for _, name := range []string{"key", "token", "address"} {
		if st, err := os.Lstat(filepath.Join(folder, name)); err != nil || !st.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// Pull copies the files of a bucket into a folder, leaving out those that the folder already has and those that are not complete. Objects
// that cannot be copied, such as those whose names lead out of the folder, are left out and told in a *LeftOutError at the end.
func (b *Bucket) Pull(ctx context.Context, folder string) (Moved, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Moved{}, err
	}
	return each(ctx, func(give func(transfer) bool, leave func(error) bool) error {
		stopped := errors.New("stopped")
		err := b.list(ctx, func(key string, o *blob.ListObject) error {
			if unfinished.MatchString(key) {
				return nil
			}
			if !filepath.IsLocal(filepath.FromSlash(key)) {
				if !leave(fmt.Errorf("%s/%s cannot be the name of a file in a folder: rename the object", strings.TrimSuffix(b.name, "/"), key)) {
					return stopped
				}
				return nil
			}
			t := transfer{key: key, file: filepath.Join(folder, filepath.FromSlash(key)), object: o}
			info, err := os.Stat(t.file)
			if err == nil {
				t.info = info
			}
			if !give(t) {
				return stopped
			}
			return nil
		})
		if err == stopped {
			err = nil
		}
		return err
	}, b.down)
}

// list calls f with every object below the prefix.
func (b *Bucket) list(ctx context.Context, f func(key string, o *blob.ListObject) error) error {
	all := b.b.List(&blob.ListOptions{Prefix: b.prefix})
	for {
		o, err := all.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return named(b.name, err)
		}
		key := strings.TrimPrefix(o.Key, b.prefix)
		if o.IsDir || key == "" || strings.HasSuffix(key, "/") || b.lag != nil && b.lag(key) {
			continue
		}
		if err := f(key, o); err != nil {
			return err
		}
	}
}

// same reports whether both sides have the file: by its MD5 where the store knows it, else by its size and
// by being no older than what it was copied from.
func (t transfer) same(target, origin time.Time) (bool, error) {
	if t.object == nil || t.info == nil || t.object.Size != t.info.Size() {
		return false, nil
	}
	if len(t.object.MD5) == 0 {
		return !target.Before(origin.Truncate(time.Second)), nil
	}
	sum, err := sumOf(t.file)
	return bytes.Equal(sum, t.object.MD5), err
}

func sumOf(name string) ([]byte, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := md5.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// up brings a file into the store. It returns its size, or -1 if it is there.
func (b *Bucket) up(ctx context.Context, t transfer) (int64, error) {
	once := batch.IsResults(t.file)
	if t.object != nil {
		if once {
			return -1, nil
		}
		if same, err := t.same(t.object.ModTime, t.info.ModTime()); same || err != nil {
			return -1, err
		}
	}
	in, err := foreign.Open(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil // it has another name now: a shard was completed
	}
	if err != nil {
		return 0, err
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(ctx) // before Close, it keeps the store from taking half a file
	defer cancel()
	w, err := b.b.NewWriter(ctx, b.prefix+t.key, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: once})
	if err != nil {
		return 0, named(b.name, err)
	}
	n, err := io.Copy(w, in)
	if err != nil {
		cancel()
		w.Close()
		return 0, named(b.name, err)
	}
	if err = w.Close(); once && gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return -1, nil // another machine was faster
	}
	return n, named(b.name, err)
}

// down brings a file into the folder.
func (b *Bucket) down(ctx context.Context, t transfer) (int64, error) {
	if batch.IsLocal(t.file) { // pushed by an older version
		return -1, nil
	}
	if t.info != nil {
		if batch.IsResults(t.file) {
			return -1, nil
		}
		if same, err := t.same(t.info.ModTime(), t.object.ModTime); same || err != nil {
			return -1, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o755); err != nil {
		return 0, err
	}
	err := atomicfile.Write(t.file, true, func(w io.Writer) error {
		return named(b.name+"/"+t.key, b.copyTo(ctx, w, t.key, t.object.Size, t.object.MD5))
	})
	return t.object.Size, err
}

// each moves some files at a time. Files that cannot be moved are left out, until an error concerns all files or too many are.
func each(ctx context.Context, source func(give func(transfer) bool, leave func(error) bool) error, move func(context.Context, transfer) (int64, error)) (m Moved, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan transfer)
	var wg sync.WaitGroup
	var mu sync.Mutex
	left := &LeftOutError{}
	leave := func(err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if !alone(err) {
			cancel(err)
			return false
		}
		if left.Errs = append(left.Errs, err); len(left.Errs) >= mostLeftOut {
			cancel(left)
			return false
		}
		return true
	}
	for range atOnce {
		wg.Go(func() {
			for t := range work {
				n, err := move(ctx, t)
				if err != nil {
					leave(err)
					continue
				}
				mu.Lock()
				if n < 0 {
					m.Same++
				} else {
					m.Files++
					m.Bytes += n
				}
				mu.Unlock()
			}
		})
	}
	err = source(func(t transfer) bool {
		select {
		case work <- t:
			return true
		case <-ctx.Done():
			return false
		}
	}, leave)
	close(work)
	wg.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil && len(left.Errs) > 0 {
		err = left
	}
	return m, err
}
