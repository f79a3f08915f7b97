// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// tiles is an image that is stored as a table of compressed rectangles, one a row.
//
// Reference: FITS Standard 4.0, section 10.
type tiles struct {
	table              *Table
	method             string
	shape              []int // of a tile, C order
	count              []int // tiles along each axis
	data, gzipped, raw *Column
	scale, zero        *Column // of quantized floats
	fixedScale         [2]float64
	quantized          bool
	dither             int   // 0: none, 1 or 2: subtractive dithering
	seed               int64 // of the dithering, 1 to 10000
	blank              int64
	hasBlank           bool
	blankColumn        *Column
	size, block        int // of Rice: bytes of a pixel, pixels of a block
}

// compressed returns the image that is stored in a binary table.
func (h *HDU) compressed() (*Image, error) {
	t, err := h.Table()
	if err != nil {
		return nil, err
	}
	bitpix, _ := h.Header.Int("ZBITPIX")
	im := &Image{hdu: h, letter: bitpixLetter[int(max(-99, min(99, bitpix)))], scaling: h.imageScaling("BLANK")}
	if im.letter == 0 {
		return nil, h.bad(-1, "ZBITPIX is %v: want 8, 16, 32, 64, -32 or -64", h.value("ZBITPIX"))
	}
	shape, err := h.axes("ZNAXIS")
	if err != nil {
		return nil, err
	}
	z := &tiles{table: t, method: strings.TrimSpace(h.Header.Text("ZCMPTYPE")), size: 4, block: 32, fixedScale: [2]float64{1, 0}}
	im.tiles = z
	if im, err = im.whole(shape); err != nil || im.tiles == nil {
		return im, err
	}
	switch z.method {
	case "RICE_1", "RICE_ONE", "GZIP_1", "GZIP_2", "NOCOMPRESS":
	default:
		e := h.bad(-1, "the image is compressed by %q, but this package reads only RICE_1, GZIP_1 and GZIP_2", z.method)
		e.Err, e.Try = ErrUnsupported, "decompress it with funpack"
		return nil, e
	}
	if err := z.layout(h, shape); err != nil {
		return nil, err
	}
	return im, z.columns(h, im)
}

// layout finds the shape and number of the tiles, and the parameters of the method.
func (z *tiles) layout(h *HDU, shape []int) error {
	total := 1
	for i, d := range shape {
		tile := 1
		if i == len(shape)-1 {
			tile = d // rows, unless the header says otherwise
		}
		if v, ok := h.Header.Int(fmt.Sprintf("ZTILE%d", len(shape)-i)); ok {
			if v < 1 {
				return h.bad(-1, "ZTILE%d is %d: want at least 1", len(shape)-i, v)
			}
			tile = int(min(v, int64(d)))
		}
		z.shape = append(z.shape, tile)
		z.count = append(z.count, (d+tile-1)/tile)
		total *= z.count[i] // no overflow: at most the number of pixels
	}
	if total != z.table.Len() {
		return h.bad(-1, "an image of the shape %v in tiles of %v has %d tiles, but the table has %d rows: fetch the file again", shape, z.shape, total, z.table.Len())
	}
	for i := 1; i < 10; i++ {
		v, ok := h.Header.Int(fmt.Sprintf("ZVAL%d", i))
		switch strings.TrimSpace(h.Header.Text(fmt.Sprintf("ZNAME%d", i))) {
		case "BYTEPIX":
			if ok && v != 1 && v != 2 && v != 4 {
				return h.bad(-1, "BYTEPIX is %d: want 1, 2 or 4", v)
			}
			z.size = int(v)
		case "BLOCKSIZE":
			if !ok || v < 1 || v > 1<<20 {
				return h.bad(-1, "BLOCKSIZE is %d: want 16 or 32", v)
			}
			z.block = int(v)
		}
	}
	return nil
}

func (z *tiles) columns(h *HDU, im *Image) error {
	find := func(name string) *Column {
		c, err := z.table.Column(name)
		if err != nil {
			return nil
		}
		return c
	}
	z.data, z.gzipped, z.raw = find("COMPRESSED_DATA"), find("GZIP_COMPRESSED_DATA"), find("UNCOMPRESSED_DATA")
	for _, c := range []*Column{z.data, z.gzipped, z.raw} {
		if c != nil && !c.Variable() {
			return h.bad(-1, "the column %s must be of variable length", c.Name)
		}
	}
	if z.data == nil {
		return h.bad(-1, "the column COMPRESSED_DATA, which holds the compressed image, is missing: fetch the file again")
	}
	z.scale, z.zero, z.blankColumn = find("ZSCALE"), find("ZZERO"), find("ZBLANK")
	for i, key := range []string{"ZSCALE", "ZZERO"} {
		if v, ok := h.Header.Float(key); ok {
			z.fixedScale[i], z.quantized = v, true
		}
	}
	z.quantized = im.letter >= 'D' && im.letter <= 'E' && (z.quantized || z.scale != nil && z.zero != nil)
	if v, ok := h.Header.Int("ZBLANK"); ok {
		z.blank, z.hasBlank = v, true
	}
	if !z.quantized && z.hasBlank {
		im.null, im.hasNull = z.blank, true
	}
	switch method := strings.TrimSpace(h.Header.Text("ZQUANTIZ")); method {
	case "SUBTRACTIVE_DITHER_1":
		z.dither = 1
	case "SUBTRACTIVE_DITHER_2":
		z.dither = 2
	case "", "NO_DITHER", "NONE":
	default:
		e := h.bad(-1, "ZQUANTIZ is %q, which is unknown: decompress the image with funpack", method)
		e.Err = ErrUnsupported
		return e
	}
	z.seed, _ = h.Header.Int("ZDITHER0")
	if z.dither > 0 && (z.seed < 1 || z.seed > 10000) {
		return h.bad(-1, "ZDITHER0 is %d: want 1 to 10000", z.seed)
	}
	return nil
}

// each decodes the tiles that overlap the rows of im. It calls f for each run of pixels along the
// last axis.
func (z *tiles) each(im *Image, f func(raw []byte, letter byte, s *scaling, at, n int) error) error {
	rank := len(im.shape)
	perFirst := 1
	for _, n := range z.count[1:] {
		perFirst *= n
	}
	pos := make([]int, rank)
	for first := im.lo / z.shape[0]; first < z.count[0] && first*z.shape[0] < im.hi; first++ {
		for k := range perFirst {
			tile := first*perFirst + k
			pos[0] = first
			for i, rest := rank-1, k; i > 0; i-- {
				pos[i], rest = rest%z.count[i], rest/z.count[i]
			}
			lo, size := make([]int, rank), make([]int, rank)
			n := 1
			for i := range pos {
				lo[i] = pos[i] * z.shape[i]
				size[i] = min(z.shape[i], im.shape[i]-lo[i])
				n *= size[i]
			}
			if err := im.hdu.room(int64(n), 8); err != nil {
				return err
			}
			raw, letter, s, err := z.decode(im, tile, n)
			if err != nil {
				return im.hdu.bad(-1, "tile %d of %d pixels cannot be decompressed: %s", tile, n, err)
			}
			if err := spread(im, raw, letter, s, lo, size, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// spread hands on the runs of one tile that are in the rows of im.
func spread(im *Image, raw []byte, letter byte, s *scaling, lo, size []int, f func(raw []byte, letter byte, s *scaling, at, n int) error) error {
	rank := len(size)
	run := size[rank-1]
	bytes := run * int(letterSize[letter])
	at := make([]int, rank)
	for len(raw) > 0 {
		to := 0
		for i := range at {
			step := lo[i] + at[i]
			if i == 0 {
				step -= im.lo
			}
			to = to*im.shape[i] + step
		}
		if rank == 1 { // rows are pixels: cut the run
			from, until := max(0, im.lo-lo[0]), min(run, im.hi-lo[0])
			one := int(letterSize[letter])
			return f(raw[from*one:], letter, s, lo[0]+from-im.lo, until-from)
		}
		if row := lo[0] + at[0]; row >= im.lo && row < im.hi {
			if err := f(raw, letter, s, to, run); err != nil {
				return err
			}
		}
		raw = raw[bytes:]
		for i := rank - 2; i >= 0; i-- {
			if at[i]++; at[i] < size[i] {
				break
			}
			at[i] = 0
		}
	}
	return nil
}

// decode returns the n pixels of a tile.
func (z *tiles) decode(im *Image, tile, n int) ([]byte, byte, *scaling, error) {
	b, err := z.data.cell(tile)
	if err != nil {
		return nil, 0, nil, err
	}
	if len(b) == 0 {
		return z.fallback(im, tile, n)
	}
	letter := im.letter
	if z.quantized {
		letter = 'J'
	}
	switch z.method {
	case "RICE_1", "RICE_ONE":
		if letter == 'K' || letter == 'D' || letter == 'E' {
			return nil, 0, nil, fmt.Errorf("pixels of type %s cannot be Rice-compressed", letterType[letter])
		}
		want := int(letterSize[letter])
		if z.size != want && !(want < z.size) {
			return nil, 0, nil, fmt.Errorf("Rice compression of numbers of %d bytes does not fit pixels of type %s", z.size, letterType[letter])
		}
		if b, err = unrice(b, n, z.size, z.block); err != nil {
			return nil, 0, nil, err
		}
		letter = map[int]byte{1: 'B', 2: 'I', 4: 'J'}[z.size]
	case "NOCOMPRESS":
	default:
		most := n * int(letterSize[letter])
		if z.method == "GZIP_1" && (letter == 'B' || letter == 'I') { // older compressors widen integers
			most = 4 * n
		}
		if b, err = gunzip(b, most); err != nil {
			return nil, 0, nil, err
		}
		if n > 0 && len(b) == most && most == 4*n && letterSize[letter] < 4 {
			letter = 'J'
		}
		if z.method == "GZIP_2" {
			b = unshuffle(b, int(letterSize[letter]))
		}
	}
	if len(b) != n*int(letterSize[letter]) {
		return nil, 0, nil, fmt.Errorf("the data have %d bytes after decompression, want %d", len(b), n*int(letterSize[letter]))
	}
	if !z.quantized {
		return b, letter, &im.scaling, nil
	}
	b, err = z.restore(b, tile, n)
	return b, 'D', &im.scaling, err
}

// fallback reads a tile that could not be quantized, or not be compressed.
func (z *tiles) fallback(im *Image, tile, n int) ([]byte, byte, *scaling, error) {
	want := n * int(letterSize[im.letter])
	if z.gzipped != nil {
		b, err := z.gzipped.cell(tile)
		if err != nil {
			return nil, 0, nil, err
		}
		if len(b) > 0 {
			if b, err = gunzip(b, want); err == nil && len(b) != want {
				err = fmt.Errorf("the data have %d bytes after decompression, want %d", len(b), want)
			}
			return b, im.letter, &im.scaling, err
		}
	}
	if z.raw != nil {
		b, err := z.raw.cell(tile)
		if err == nil && len(b) != want {
			err = fmt.Errorf("the uncompressed data have %d bytes, want %d", len(b), want)
		}
		return b, im.letter, &im.scaling, err
	}
	return nil, 0, nil, fmt.Errorf("the tile is empty")
}

// restore turns quantized integers back into floats.
func (z *tiles) restore(b []byte, tile, n int) ([]byte, error) {
	scale, zero, blank, hasBlank := z.fixedScale[0], z.fixedScale[1], z.blank, z.hasBlank
	for c, v := range map[*Column]*float64{z.scale: &scale, z.zero: &zero} {
		if c == nil {
			continue
		}
		x, err := c.Slice(tile, tile+1).Float64s()
		if err != nil || len(x) != 1 {
			return nil, fmt.Errorf("column %s: %v", c.Name, err)
		}
		*v = x[0]
	}
	if z.blankColumn != nil {
		x, err := z.blankColumn.Slice(tile, tile+1).Int64s()
		if err != nil || len(x) != 1 {
			return nil, fmt.Errorf("column ZBLANK: %v", err)
		}
		blank, hasBlank = x[0], true
	}
	out := make([]byte, 8*n)
	d := newDither(z.dither, int64(tile)+z.seed)
	for i := range n {
		q := int64(int32(binary.BigEndian.Uint32(b[4*i:])))
		r := d.next()
		x := 0.0
		switch {
		case hasBlank && q == blank:
			x = math.NaN()
		case z.dither == 2 && q == -2147483646: // stands for an exact zero
		case z.dither > 0:
			x = float64((float64(q)-r+0.5)*scale) + zero // rounded twice on every processor: q may be near -2^31, where the sum loses digits
		default:
			x = float64(float64(q)*scale) + zero
		}
		binary.BigEndian.PutUint64(out[8*i:], math.Float64bits(x))
	}
	return out, nil
}

// dither draws the random numbers that were added before rounding.
type dither struct {
	on           bool
	start, after int
}

// randoms are the 10000 numbers of the standard's generator, appendix I.
var randoms = sync.OnceValue(func() []float32 {
	out := make([]float32, 10000)
	seed := 1.0
	for i := range out {
		t := 16807 * seed
		seed = t - 2147483647*math.Trunc(t/2147483647)
		out[i] = float32(seed / 2147483647)
	}
	return out
})

func newDither(method int, row int64) *dither {
	d := &dither{on: method > 0}
	if d.on {
		d.start = int((row - 1) % 10000)
		d.after = int(randoms()[d.start] * 500)
	}
	return d
}

func (d *dither) next() float64 {
	if !d.on {
		return 0
	}
	r := float64(randoms()[d.after])
	if d.after++; d.after == 10000 {
		d.start = (d.start + 1) % 10000
		d.after = int(randoms()[d.start] * 500)
	}
	return r
}

// gunzip decompresses at most want bytes.
func gunzip(b []byte, want int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(z, int64(want)+1))
	return out.Bytes(), err
}

// unshuffle brings the bytes of each element together again.
func unshuffle(b []byte, size int) []byte {
	n := len(b) / size
	out := make([]byte, len(b))
	for i := range n {
		for j := range size {
			out[i*size+j] = b[j*n+i]
		}
	}
	return out
}
