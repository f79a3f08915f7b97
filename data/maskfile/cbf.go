// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// mostCBFHead is the largest size of what stands before the numbers of a CBF file in bytes.
const mostCBFHead = 1 << 20

// cbfStart is what stands before the packed numbers.
const cbfStart = "\x0c\x1a\x04\xd5"

// imageCBF reads the first image of a crystallographic binary file as detectors of Dectris and fabio write it: a section of MIME headers and
// the differences of neighbouring pixels, a byte for each unless it is larger.
//
// Format: the CBF/imgCIF definition, byte-offset compression.
func imageCBF(f file, size int64, s Settings) (*Image, error) {
	h, err := cbfHead(f, size, s)
	if err != nil {
		return nil, err
	}
	return h.image(f)
}

// cbfImage is what the header of a CBF file says of its image.
type cbfImage struct {
	height, width int
	at, n         int64  // position of the packed numbers and how many bytes they have
	element, md5  string // type of the numbers and the hash of the bytes, "" if it is not given
}

// cbfHead reads the header of a CBF file.
func cbfHead(f file, size int64, s Settings) (*cbfImage, error) {
	head := make([]byte, min(size, mostCBFHead))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	section := bytes.Index(head, []byte("--CIF-BINARY-FORMAT-SECTION--"))
	start := bytes.Index(head, []byte(cbfStart))
	if !bytes.HasPrefix(head, []byte("###CBF")) || section < 0 || start < section {
		return nil, fmt.Errorf("the file has no binary section of a CBF image: give a CBF image, or use the extension of its format")
	}
	about := cbfFields(string(head[section:start]))
	number := func(key string) int {
		n, err := strconv.Atoi(about[key])
		if err != nil {
			return -1
		}
		return n
	}
	packing, element := about["conversions"], about["x-binary-element-type"]
	if packing != "x-CBF_BYTE_OFFSET" || element != "signed 32-bit integer" && element != "unsigned 32-bit integer" {
		return nil, fmt.Errorf("the CBF image has the compression %.40q and the type %.40q: save it with byte offsets of 32-bit integers, as fabio does", packing, element)
	}
	height, width, n := number("x-binary-size-second-dimension"), number("x-binary-size-fastest-dimension"), int64(number("x-binary-size"))
	if err := s.shape(height, width); err != nil {
		return nil, err
	}
	at := int64(start + len(cbfStart))
	if n < int64(height)*int64(width) || n > size-at {
		return nil, fmt.Errorf("the CBF file has %d bytes after its header, which gives %d for %d x %d pixels: it is damaged or truncated, copy it again", size-at, n, height, width)
	}
	return &cbfImage{height, width, at, n, element, about["content-md5"]}, nil
}

// image reads and unpacks the numbers.
func (h *cbfImage) image(f file) (*Image, error) {
	packed := make([]byte, h.n)
	if _, err := f.ReadAt(packed, h.at); err != nil && err != io.EOF {
		return nil, err
	}
	if want, sum := h.md5, md5.Sum(packed); want != "" && want != base64.StdEncoding.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("the numbers of the CBF image do not have the MD5 of its header: the file is damaged, copy it again")
	}
	m := &Image{Height: h.height, Width: h.width, Values: make([]float64, h.height*h.width)}
	if got := fromOffsets(m.Values, packed); got < len(m.Values) {
		return nil, fmt.Errorf("the CBF image ends after %d of %d pixels: it is damaged or truncated, copy it again", got, len(m.Values))
	}
	return m, nil
}

// cbfFields returns the headers of a binary section by lower-case names, without quotation marks. That of the conversions stands inside the
// content type.
func cbfFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		for part := range strings.SplitSeq(line, ";") {
			name, value, found := strings.Cut(part, ":")
			if !found {
				name, value, found = strings.Cut(part, "=")
			}
			if found {
				fields[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
	}
	return fields
}

// fromOffsets unpacks differences of neighbouring numbers into dst, and returns how many numbers there are. A difference has one byte; the
// lowest one of 1, 2 or 4 bytes stands for one of twice as many that follow.
func fromOffsets(dst []float64, b []byte) int {
	v := int64(0)
	for i := range dst {
		wide := 0
		for ; wide < 4; wide++ {
			n := 1 << wide
			if len(b) < n {
				return i
			}
			d := little(b[:n])
			b = b[n:]
			if wide == 3 || d != math.MinInt64>>(64-8*n) {
				v += d
				break
			}
		}
		dst[i] = float64(v)
	}
	return len(dst)
}

// little returns a signed number of 1, 2, 4 or 8 bytes, the lowest first.
func little(b []byte) int64 {
	switch len(b) {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}
