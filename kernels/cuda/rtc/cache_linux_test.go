// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Where an image should be there can be a pipe, or a device without an end: neither is read, and an image
// takes its place.
func TestCacheEntryThatIsNoFile(t *testing.T) {
	c := NewCache(t.TempDir(), 0)
	for name, make := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		for _, path := range []string{c.path(name), c.notePath(name)} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := make(path); err != nil {
				t.Skip(err)
			}
		}
		done := time.AfterFunc(10*time.Second, func() { panic("reading a " + name + " does not end") })
		if b, ok := c.Read(name); ok || c.ReadNote(name) != nil {
			t.Errorf("%s: read %d bytes", name, len(b))
		}
		c.Write(name, []byte("image"))
		if b, ok := c.Read(name); !ok || string(b) != "image" {
			t.Errorf("%s: after Write: %q", name, b)
		}
		done.Stop()
	}
}
