// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"time"
)

// mostHashed is the largest file in bytes of which a hash is taken; larger ones are told apart by size and time.
const mostHashed = 256 << 20

// Identity tells a file, or the list of files in a folder, from another one that has taken its place.
type Identity struct {
	Name     string    `json:"name"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified,omitzero"` // time of the last change; zero for a folder
	SHA256   string    `json:"sha256,omitempty"`  // "" for files above 256 MiB, or if it was not asked for
	Files    []string  `json:"files,omitempty"`   // names of the files in a folder, without those of its folders; nil for a file
}

// Identify returns the identity of a file, with the hash of its bytes if asked for, or that of a folder.
func Identify(name string, hash bool) (*Identity, error) {
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return folder(name)
	}
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	id := &Identity{Name: name, Bytes: st.Size(), Modified: st.ModTime().UTC()}
	if hash && st.Size() <= mostHashed {
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return nil, err
		}
		id.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return id, nil
}

// folder is the identity of a folder. Hidden files are those of programs that look at it.
func folder(name string) (*Identity, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	id := &Identity{Name: name, Files: []string{}}
	for _, e := range entries {
		if st, err := os.Stat(filepath.Join(name, e.Name())); err == nil && st.Mode().IsRegular() && e.Name()[0] != '.' {
			id.Files = append(id.Files, e.Name())
		}
	}
	return id, nil
}
