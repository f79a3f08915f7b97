// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"
)

// mostHashed is the largest file in bytes of which a hash is taken; larger ones are told apart by size and time.
const mostHashed = 256 << 20

// Identity tells a file from another one that has taken its place.
type Identity struct {
	Name     string    `json:"name"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	SHA256   string    `json:"sha256,omitempty"` // "" for files above 256 MiB, or if it was not asked for
}

// Identify returns the identity of a file, with the hash of its bytes if asked for.
func Identify(name string, hash bool) (*Identity, error) {
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
