// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/memblob"   // mem://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"
)

// Bucket is a folder in an object store.
type Bucket struct {
	b      *blob.Bucket
	prefix string // empty, or ends with a slash
	name   string // URL without what may be secret

	lag func(key string) bool // whether a listing does not show an object yet; nil in real stores, which decide it themselves
}

// place is a URL in the parts that the stores want.
type place struct {
	bucket string // URL for OpenBucket
	key    string
	name   string
}

// parse reads a URL.
func parse(text string) (place, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return place{}, fmt.Errorf("%q is not a URL: want one such as s3://bucket/folder or file:///folder", text)
	}
	if !blob.DefaultURLMux().ValidBucketScheme(u.Scheme) {
		return place{}, fmt.Errorf("%q names an unknown kind of store: want one of %s", text, strings.Join(blob.DefaultURLMux().BucketSchemes(), ", "))
	}
	p := place{name: (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()}
	if u.Scheme == "file" {
		if u.Host != "" || !path.IsAbs(u.Path) {
			return place{}, fmt.Errorf("%q does not name a folder: want three slashes and a full path, as in file:///home/me/folder", text)
		}
		q := u.Query()
		for name, value := range map[string]string{"no_tmp_dir": "true", "metadata": "skip"} { // no files beside ours
			if !q.Has(name) {
				q.Set(name, value)
			}
		}
		u.RawQuery = q.Encode()
		p.bucket = u.String()
		return p, nil
	}
	if u.Host == "" && u.Scheme != "mem" {
		return place{}, fmt.Errorf("%q names no bucket: want its name after %s://", text, u.Scheme)
	}
	p.key = strings.TrimPrefix(u.Path, "/")
	p.bucket = (&url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, RawQuery: u.RawQuery}).String()
	return p, nil
}

// Open opens the folder at a URL and checks that it can be read.
func Open(ctx context.Context, text string) (*Bucket, error) {
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	b, err := blob.OpenBucket(ctx, p.bucket)
	if err != nil {
		return nil, named(p.name, err)
	}
	out := &Bucket{b: b, prefix: p.key, name: p.name}
	if out.prefix != "" {
		out.prefix = strings.TrimSuffix(out.prefix, "/") + "/"
	}
	if _, _, err := b.ListPage(ctx, blob.FirstPageToken, 1, &blob.ListOptions{Prefix: out.prefix}); err != nil {
		b.Close()
		return nil, named(p.name, err)
	}
	return out, nil
}

// Close closes the connection.
func (b *Bucket) Close() error { return b.b.Close() }

// AccessError says that an object store cannot be used.
type AccessError struct {
	Name string // URL of the folder in the store
	Err  error
}

// Error names the place and the likely causes.
func (e *AccessError) Error() string {
	hint := "is the address right, and does this machine reach it?"
	switch gcerrors.Code(e.Err) {
	case gcerrors.NotFound:
		hint = "there is nothing of that name"
	case gcerrors.PermissionDenied:
		hint = "the credentials of the environment do not allow it"
	}
	return fmt.Sprintf("%s: %s: %v", e.Name, hint, e.Err)
}

// Unwrap returns the store's error.
func (e *AccessError) Unwrap() error { return e.Err }

// Is lets errors.Is match fs.ErrNotExist if the error says that something does not exist.
func (e *AccessError) Is(target error) bool {
	return target == fs.ErrNotExist && gcerrors.Code(e.Err) == gcerrors.NotFound
}

func named(name string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &AccessError{name, err}
}
