// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// archive is an open checkpoint.
type archive struct {
	file     string
	size     int64
	prefix   string
	records  map[string]*zip.File
	storages map[string]*storage
	loaded   int64 // bytes of all storages
	big      bool
}

// Load reads a checkpoint from a file.
func Load(name string) (any, error) {
	f, err := foreign.Open(name, ".pt", ".pth")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return read(f, info.Size(), name)
}

// Read reads a checkpoint from the size bytes that r provides.
func Read(r io.ReaderAt, size int64) (any, error) { return read(r, size, "") }

func read(r io.ReaderAt, size int64, name string) (any, error) {
	a := &archive{file: name, size: size, storages: map[string]*storage{}, records: map[string]*zip.File{}}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, a.notZip(r, err)
	}
	for _, f := range z.File {
		if before, ok := strings.CutSuffix(f.Name, "data.pkl"); ok && (before == "" || strings.HasSuffix(before, "/")) && strings.Count(before, "/") <= 1 {
			a.prefix = before
		}
		a.records[f.Name] = f
	}
	if a.records[a.prefix+"constants.pkl"] != nil {
		return nil, &FormatError{Format: "torch", File: name, What: "the archive is a TorchScript program", Err: ErrUnsupported, Try: "save its weights: torch.save(torch.jit.load(path).state_dict(), new_path)"}
	}
	if order, err := a.record("byteorder", 16); err == nil {
		a.big = strings.TrimSpace(string(order)) == "big"
	}
	pickle, err := a.record("data.pkl", math.MaxInt64)
	if err != nil {
		return nil, err
	}
	m := &machine{b: pickle, storage: a.storage}
	root, err := m.run()
	if e, ok := err.(*FormatError); ok && e.File == "" {
		e.File = name
		if e.Place == "" {
			e.Place = "data.pkl"
		}
	}
	return root, err
}

// notZip says what a file is that is no zip archive.
func (a *archive) notZip(r io.ReaderAt, cause error) error {
	head := make([]byte, 16)
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	e := &FormatError{Format: "torch", File: a.file, What: "the file is not a zip archive, as checkpoints of PyTorch 1.6 and later are", Err: cause, Try: "fetch the file again"}
	magic := []byte{0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19}
	if bytes.Contains(head, magic) {
		e.What, e.Err, e.Try = "the checkpoint has the format of PyTorch before 1.6", ErrUnsupported, "convert it in Python: torch.save(torch.load(path), new_path)"
	} else if n > 1 && head[0] == 0x80 && head[1] <= 5 {
		e.What, e.Err, e.Try = "the file is a bare Python pickle, not a checkpoint", ErrRefused, "save the weights with torch.save(model.state_dict(), path)"
	}
	return e
}

// record returns the bytes of a file in the archive.
func (a *archive) record(name string, most int64) ([]byte, error) {
	bad := func(err error, format string, args ...any) error {
		return &FormatError{Format: "torch", File: a.file, Place: name, What: fmt.Sprintf(format, args...), Err: err, Try: tryAgain}
	}
	f := a.records[a.prefix+name]
	if f == nil {
		return nil, bad(ErrNotFound, "the archive lacks this record")
	}
	if f.Method != zip.Store {
		return nil, bad(ErrUnsupported, "the record is compressed, although PyTorch does not compress records")
	}
	if f.UncompressedSize64 > uint64(min(most, a.size)) {
		return nil, bad(nil, "the record should have %d bytes, but the whole file has %d", f.UncompressedSize64, a.size)
	}
	r, err := f.Open()
	if err != nil {
		return nil, bad(err, "the record cannot be read")
	}
	defer r.Close()
	b := make([]byte, f.UncompressedSize64)
	if _, err = io.ReadFull(r, b); err == nil {
		if _, err = io.Copy(io.Discard, r); err == nil { // compares the checksum
			return b, nil
		}
	}
	return nil, bad(err, "the record is incomplete or its checksum is wrong")
}

// storage returns the memory with a key, once.
func (a *archive) storage(dtype DType, key string, n int) (*storage, error) {
	if s := a.storages[key]; s != nil {
		if s.dtype != dtype || s.n != n {
			return nil, &FormatError{Format: "torch", Place: "data/" + key, What: fmt.Sprintf("the storage is used with %d elements of %s and with %d elements of %s", n, dtype, s.n, s.dtype), Try: tryAgain}
		}
		return s, nil
	}
	b, err := a.record("data/"+key, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if a.loaded += int64(len(b)); a.loaded > a.size {
		return nil, &FormatError{Format: "torch", File: a.file, Place: "data/" + key, What: fmt.Sprintf("the storages overlap, since together they have more bytes than the file, which has %d", a.size), Try: tryAgain}
	}
	if n > len(b)/sizes[dtype] {
		return nil, &FormatError{Format: "torch", File: a.file, Place: "data/" + key, What: fmt.Sprintf("the record has %d bytes: want %d elements of %s", len(b), n, dtype)}
	}
	s := &storage{dtype: dtype, n: n, data: b, big: a.big, limit: 64<<20 + 16*min(a.size, math.MaxInt64/32)}
	a.storages[key] = s
	return s, nil
}
