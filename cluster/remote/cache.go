// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"gocloud.dev/blob"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// Cache is a folder on this machine for files fetched from object stores. Any number of processes may
// use it at once. It may be deleted while no process is using it.
type Cache string

// Fetch returns the path of a local file with the present contents of the object at a URL. It downloads
// the object unless the cache already has this version: the store's entity tag is part of the path.
func (c Cache) Fetch(ctx context.Context, text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q: %w", text, err)
	}
	folder, key := path.Split(strings.TrimSuffix(u.Path, "/"))
	if key == "" || key == "." || key == ".." {
		return "", fmt.Errorf("%q is not the URL of a file: want its name at the end", text)
	}
	u.Path = folder
	b, err := open(ctx, u.String())
	if err != nil {
		return "", err
	}
	defer b.Close()
	return c.fetch(ctx, b, key)
}

// open is Open without a look.
func open(ctx context.Context, text string) (*Bucket, error) {
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	b, err := blob.OpenBucket(ctx, p.bucket)
	return &Bucket{b: b, prefix: p.key, name: strings.TrimSuffix(p.name, "/")}, named(p.name, err)
}

// fetch is Fetch of an object of a bucket.
func (c Cache) fetch(ctx context.Context, b *Bucket, key string) (string, error) {
	name := b.name + "/" + key
	for range 3 {
		have, err := b.b.Attributes(ctx, b.prefix+key)
		if err != nil {
			return "", named(name, err)
		}
		version := have.ETag
		if version == "" {
			version = fmt.Sprint(have.Size, have.ModTime.UnixNano(), have.MD5)
		}
		sum := sha256.Sum256([]byte(name + "\n" + version))
		folder := filepath.Join(string(c), fmt.Sprintf("%.16x", sum))
		file := filepath.Join(folder, path.Base(key))
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", err
		}
		same, err := b.first(ctx, key, folder, file, have)
		if err != nil {
			return "", named(name, err)
		}
		if same {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s was changed during each of three attempts to fetch it: try again later", name)
}

// first fetches a version of an object unless another process does, which is waited for. It reports
// whether the object was that version for all the time.
func (b *Bucket) first(ctx context.Context, key, folder, file string, have *blob.Attributes) (bool, error) {
	lock := flock.New(filepath.Join(folder, ".lock"))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return false, err
	}
	defer lock.Close()
	if _, err := os.Stat(file); err == nil {
		return true, nil
	}
	out, err := atomicfile.Create(file)
	if err != nil {
		return false, err
	}
	defer out.Discard()
	if err := b.copyTo(ctx, out, key, have.Size, have.MD5); err != nil {
		return false, err
	}
	now, err := b.b.Attributes(ctx, b.prefix+key)
	if err != nil || now.ETag != have.ETag || now.Size != have.Size || !now.ModTime.Equal(have.ModTime) {
		return false, err
	}
	return true, out.Commit()
}

// copyTo reads an object, and compares it with its size and, where the store knows it, its MD5.
func (b *Bucket) copyTo(ctx context.Context, w io.Writer, key string, size int64, sum []byte) error {
	r, err := b.b.NewReader(ctx, b.prefix+key, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	var h hash.Hash = md5.New()
	n, err := io.Copy(io.MultiWriter(w, h), r)
	if err != nil {
		return err
	}
	if n != size {
		return fmt.Errorf("received %d bytes of %d: try again", n, size)
	}
	if got := h.Sum(nil); len(sum) == len(got) && string(sum) != string(got) {
		return fmt.Errorf("the received file has the MD5 checksum %x instead of %x: try again", got, sum)
	}
	return nil
}
