// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// Stack is an open file of pictures of one size: the pages of a TIFF file, the images of an EDF file, or the one of a CBF file. Only one
// goroutine at a time may call its methods.
type Stack struct {
	Name          string
	Height, Width int    // numbers of rows and columns of each picture
	Images        int    // number of pictures
	Type          string // type of the numbers in NumPy's notation without the byte order, such as u2, i4 or f4; u1 also for single bits

	read func(image int, set func(pixel int, v float64)) error
	file *os.File
}

// stackers find the pictures of files by the kind of the file.
var stackers = map[string]func(k *Stack, f file, size int64, s Settings) error{
	"tiff": (*Stack).pages,
	"edf":  (*Stack).edf,
	"cbf":  (*Stack).cbf,
}

// StackEndings are the lower-case endings of the names of files that OpenStack reads.
var StackEndings = []string{".tif", ".tiff", ".edf", ".cbf", ".edf.gz", ".cbf.gz"}

// OpenStack opens a file of pictures, whose headers it reads. One that gzip packed is unpacked into memory.
func OpenStack(name string, s Settings) (*Stack, error) {
	k, err := openStack(name, s)
	if err != nil {
		return nil, fmt.Errorf("maskfile: %s: %w", name, err)
	}
	return k, nil
}

func openStack(name string, s Settings) (*Stack, error) {
	format, err := kind(name)
	if err != nil || stackers[format] == nil {
		return nil, fmt.Errorf("the name has none of the extensions of stacks of pictures: want one of %s", strings.Join(StackEndings, ", "))
	}
	in, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	k := &Stack{Name: name, file: in}
	info, err := in.Stat()
	if err == nil && strings.HasSuffix(strings.ToLower(name), ".gz") {
		var b []byte
		if b, err = unzipped(in, mostEDFHead+8*int64(s.most())); err == nil {
			err = stackers[format](k, bytes.NewReader(b), int64(len(b)), s)
		}
	} else if err == nil {
		err = stackers[format](k, in, info.Size(), s)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return k, nil
}

// Read calls set with each pixel, as row * Width + column, of a picture, counted from 0, and its number.
func (k *Stack) Read(image int, set func(pixel int, v float64)) error {
	if image < 0 || image >= k.Images {
		return fmt.Errorf("maskfile: %s: picture %d was asked for, but the file has %s, counted from 0: ask for one that exists", k.Name, image, errtext.Count(k.Images, "picture"))
	}
	if err := k.read(image, set); err != nil {
		return fmt.Errorf("maskfile: %s: picture %d: %w", k.Name, image, err)
	}
	return nil
}

// Close closes the file.
func (k *Stack) Close() error { return k.file.Close() }

// add notes another picture, which has to have the shape and the type of the first.
func (k *Stack) add(height, width int, typ string) error {
	if k.Images == 0 {
		k.Height, k.Width, k.Type = height, width, typ
	}
	if height != k.Height || width != k.Width || typ != k.Type {
		return fmt.Errorf("picture %d has %d x %d pixels of type %s, and those before it have %d x %d of type %s: make a file of each kind", k.Images, height, width, typ, k.Height, k.Width, k.Type)
	}
	k.Images++
	return nil
}

// pages finds the pages of a TIFF file.
func (k *Stack) pages(f file, size int64, s Settings) error {
	p := &picture{r: f, size: size}
	var at []int64 // positions of the directories
	err := p.each(func(here int64) (bool, error) {
		height, width, bits, format, err := p.numbers(s)
		if err != nil {
			return false, err
		}
		at = append(at, here)
		return true, k.add(height, width, tiffType(bits, format))
	})
	if err != nil {
		return err
	}
	if k.Images == 0 {
		return fmt.Errorf("the TIFF file has no page: it is damaged, copy it again")
	}
	k.read = func(image int, set func(int, float64)) error {
		p.tags = map[uint16][]uint64{}
		if _, err := p.directory(at[image]); err != nil {
			return err
		}
		_, _, bits, format, err := p.numbers(s)
		if err != nil {
			return err
		}
		return p.blocks(canvas{k.Height, k.Width, set}, bits, format)
	}
	return nil
}

// tiffType returns NumPy's name of a type of numbers of TIFF files.
func tiffType(bits, format int) string {
	return string(" uif"[format]) + fmt.Sprint(max(bits/8, 1))
}

// edf finds the images of an EDF file, each with its header.
func (k *Stack) edf(f file, size int64, s Settings) error {
	var list []edfImage
	for at := int64(0); at < size; {
		m, err := edfAt(f, at, size, s)
		if err == io.EOF { // nothing but padding is left
			break
		}
		if err != nil {
			return err
		}
		if err := k.add(m.height, m.width, m.kind); err != nil {
			return err
		}
		list, at = append(list, m), m.at+m.n
	}
	k.read = func(image int, set func(int, float64)) error {
		x, err := list[image].numbers(f)
		if err != nil {
			return err
		}
		for i, v := range x.Float64s() {
			set(i, v)
		}
		return nil
	}
	return nil
}

// cbf finds the image of a CBF file.
func (k *Stack) cbf(f file, size int64, s Settings) error {
	h, err := cbfHead(f, size, s)
	if err != nil {
		return err
	}
	typ := "i4"
	if strings.HasPrefix(h.element, "unsigned") {
		typ = "u4"
	}
	k.read = func(_ int, set func(int, float64)) error {
		m, err := h.image(f)
		if err != nil {
			return err
		}
		for i, v := range m.Values {
			set(i, v)
		}
		return nil
	}
	return k.add(h.height, h.width, typ)
}

// Mark returns the number that marks pixels without a count by the type of the numbers: the largest of an unsigned type of several
// bytes. It is 0 if the type has none.
func (k *Stack) Mark() float64 {
	switch k.Type {
	case "u2":
		return math.MaxUint16
	case "u4":
		return math.MaxUint32
	case "u8":
		return math.MaxUint64
	}
	return 0
}

// edfImage is where the numbers of an image of an EDF file are.
type edfImage struct {
	height, width int
	kind, order   string // as NumPy writes them
	at, n         int64  // position of the numbers and how many bytes they have
}

// numbers reads the numbers of an image.
func (m edfImage) numbers(f file) (*tensor.Tensor, error) {
	about := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%d, %d), }\n", m.order, m.kind, m.height, m.width)
	npy := fmt.Sprintf("\x93NUMPY\x01\x00%c%c%s", len(about)&0xff, len(about)>>8, about)
	return tensor.ReadNPY(io.MultiReader(strings.NewReader(npy), io.NewSectionReader(f, m.at, m.n)))
}
