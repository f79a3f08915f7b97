// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

const (
	defaultCacheBytes = 512 << 20
	suffix            = ".cubin"
	sumBytes          = sha256.Size
	sweepEvery        = 64        // writes between two looks at the size of the cache
	touchAfter        = time.Hour // an entry's time of use is that exact
)

// Cache keeps images in a folder, with one file for each key that holds a checksum and the image.
// Many processes may share it. A failure of the cache is not an error: an image that cannot be read
// is compiled again, and one that cannot be written is not kept. A nil Cache keeps nothing.
type Cache struct {
	folder string
	limit  int64
	writes atomic.Int64
	sweeps sync.Mutex
}

// NewCache returns the cache in a folder that may hold the given number of bytes, or 512 MiB if
// that number is not positive. If no folder is given, it is the one that EURYALE_CUDA_CACHE names,
// or euryale/cuda in the user's cache folder. NewCache returns nil if the variable is "off" or the
// user has no cache folder.
func NewCache(folder string, limit int64) *Cache {
	if folder == "" {
		folder = os.Getenv("EURYALE_CUDA_CACHE")
	}
	if folder == "off" {
		return nil
	}
	if folder == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		folder = filepath.Join(user, "euryale", "cuda")
	}
	if limit <= 0 {
		limit = defaultCacheBytes
	}
	return &Cache{folder: folder, limit: limit}
}

// Folder returns the folder of the images, or an empty string if there is none.
func (c *Cache) Folder() string {
	if c == nil {
		return ""
	}
	return c.folder
}

func (c *Cache) path(key string) string { return filepath.Join(c.folder, key[:2], key+suffix) }

// Read returns an image, if there is one. An entry whose checksum is wrong is removed.
func (c *Cache) Read(key string) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	path := c.path(key)
	b := c.read(path)
	if b == nil {
		return nil, false
	}
	if len(b) <= sumBytes {
		os.Remove(path)
		return nil, false
	}
	if sum := sha256.Sum256(b[sumBytes:]); !bytes.Equal(sum[:], b[:sumBytes]) {
		os.Remove(path)
		return nil, false
	}
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > touchAfter {
		now := time.Now()
		os.Chtimes(path, now, now)
	}
	return b[sumBytes:], true
}

// read returns a file, or nil. What is no file, as a pipe, or larger than the cache may be, is not opened:
// reading it might never end.
func (c *Cache) read(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > c.limit+sumBytes {
		return nil
	}
	b, err := foreign.ReadFile(path)
	if err != nil {
		return nil
	}
	return b
}

// Write keeps an image. From time to time it removes the images that have not been used for longest
// until the rest fits the limit.
func (c *Cache) Write(key string, image []byte) {
	if c == nil || int64(len(image)) > c.limit {
		return
	}
	path := c.path(key)
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return
	}
	defer f.Discard()
	sum := sha256.Sum256(image)
	if _, err := f.Write(sum[:]); err != nil {
		return
	}
	if _, err := f.Write(image); err != nil {
		return
	}
	f.Commit()
	if c.writes.Add(1)%sweepEvery == 1 {
		c.Sweep()
	}
}

// Remove deletes an image from the cache.
func (c *Cache) Remove(key string) {
	if c != nil {
		os.Remove(c.path(key))
	}
}

// notePath returns the file of a note.
func (c *Cache) notePath(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(c.folder, "notes", hex.EncodeToString(sum[:16])+".json")
}

// ReadNote returns the note that WriteNote kept under a name, or nil. The caller must check its
// contents, because files can be damaged.
func (c *Cache) ReadNote(name string) []byte {
	if c == nil {
		return nil
	}
	return c.read(c.notePath(name))
}

// WriteNote keeps a few bytes beside the images. Sweep does not remove notes.
func (c *Cache) WriteNote(name string, note []byte) {
	if c == nil {
		return
	}
	path := c.notePath(name)
	if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		atomicfile.WriteBytes(path, note)
	}
}

// Sweep removes the images that have not been used for longest until the rest fits the limit.
func (c *Cache) Sweep() {
	if c == nil {
		return
	}
	c.sweeps.Lock()
	defer c.sweeps.Unlock()
	type entry struct {
		path string
		size int64
		used time.Time
	}
	var all []entry
	var total int64
	filepath.WalkDir(c.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != suffix || atomicfile.Temporary(path) {
			return nil
		}
		if info, err := d.Info(); err == nil {
			all = append(all, entry{path, info.Size(), info.ModTime()})
			total += info.Size()
		}
		return nil
	})
	slices.SortFunc(all, func(a, b entry) int { return a.used.Compare(b.used) })
	for _, e := range all {
		if total <= c.limit {
			return
		}
		if os.Remove(e.path) == nil {
			total -= e.size
		}
	}
}
