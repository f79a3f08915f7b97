// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// mostHashed is the largest file in bytes of which a hash of all bytes is taken. Reading larger ones takes longer than beginning the work.
	mostHashed = 256 << 20
	// samples is the number of parts of a larger file of which the hash is taken: the first, the last and those spread evenly between.
	samples = 32
	// sampled is the size of a part in bytes.
	sampled = 1 << 20
	// ofSamples begins the text of such a hash.
	ofSamples = "32 MiB of the file: "
)

// Identity tells a file, or the list of files in a folder, from another one that has taken its place.
type Identity struct {
	Name     string    `json:"name"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified,omitzero"` // time of the last change; zero for a folder
	SHA256   string    `json:"sha256,omitempty"`  // of 32 parts of 1 MiB for files above 256 MiB, which it then says; "" if it was not asked for
	Files    []string  `json:"files,omitempty"`   // names of the files in a folder, without those of its folders; nil for a file
}

// Whole reports whether the hash is that of all bytes.
func (id *Identity) Whole() bool { return id.SHA256 != "" && !strings.HasPrefix(id.SHA256, ofSamples) }

// Same reports whether a file is what it was, as far as the two identities tell: its size and its hash are the same, and unless the hash
// is that of all bytes, its time is, too.
func (id *Identity) Same(was *Identity) bool {
	return id.Bytes == was.Bytes && id.SHA256 == was.SHA256 && slices.Equal(id.Files, was.Files) && (id.Whole() || id.Modified.Equal(was.Modified))
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
	if !hash {
		return id, nil
	}
	sum := sha256.New()
	if id.Bytes <= mostHashed {
		_, err = io.Copy(sum, f)
	} else {
		id.SHA256 = ofSamples
		for k := int64(0); k < samples && err == nil; k++ {
			_, err = io.Copy(sum, io.NewSectionReader(f, (id.Bytes-sampled)*k/(samples-1), sampled))
		}
	}
	if err != nil {
		return nil, err
	}
	id.SHA256 += hex.EncodeToString(sum.Sum(nil))
	return id, nil
}

// Hashed returns the number of bytes that are read for the hash of a file of a size.
func Hashed(size int64) int64 {
	if size > mostHashed {
		return samples * sampled
	}
	return size
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
