// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/image/tiff/lzw"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// Tags of a TIFF directory that masks need.
const (
	tagSubfile      = 254
	tagWidth        = 256
	tagHeight       = 257
	tagBits         = 258
	tagCompression  = 259
	tagPhotometric  = 262
	tagStrips       = 273
	tagSamples      = 277
	tagRowsPerStrip = 278
	tagStripBytes   = 279
	tagPredictor    = 317
	tagTileWidth    = 322
	tagTileHeight   = 323
	tagTiles        = 324
	tagTileBytes    = 325
	tagFormat       = 339
)

// picture is a picture of a TIFF file.
type picture struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	big   bool // BigTIFF, whose positions and counts have 64 bits
	tags  map[uint16][]uint64
}

// canvas takes the numbers of a picture.
type canvas struct {
	Height, Width int
	set           func(pixel int, v float64)
}

// readTIFF reads the mask of a picture.
func readTIFF(r io.ReaderAt, size int64, s Settings) (m *Mask, err error) {
	err = paintTIFF(r, size, s, func(height, width int, _ bool) canvas {
		m = &Mask{height, width, make([]bool, height*width)}
		return canvas{height, width, func(i int, v float64) { m.Keep[i] = v > 0 }}
	})
	return m, err
}

// paintTIFF reads a picture of one number for each pixel onto the canvas of its shape, which is told whether single precision holds the
// numbers exactly.
func paintTIFF(r io.ReaderAt, size int64, s Settings, make func(height, width int, exact bool) canvas) error {
	p := &picture{r: r, size: size}
	if err := p.page(s.Key); err != nil {
		return err
	}
	height, width, bits, format, err := p.numbers(s)
	if err != nil {
		return err
	}
	return p.blocks(make(height, width, bits <= 16 || bits == 32 && format == 3), bits, format)
}

// numbers returns the shape of the page that was read last, and how many bits and which format its numbers have. A page that cannot be
// read as one number for each pixel is an error.
func (p *picture) numbers(s Settings) (height, width, bits, format int, err error) {
	height, width = p.tag(tagHeight, 0), p.tag(tagWidth, 0)
	if err := s.shape(height, width); err != nil {
		return 0, 0, 0, 0, err
	}
	bits, format = p.tag(tagBits, 1), p.tag(tagFormat, 1)
	return height, width, bits, format, p.readable(height, width, bits, format)
}

// readable returns an error for numbers that cannot be read.
func (p *picture) readable(height, width, bits, format int) error {
	if n := p.tag(tagSamples, 1); n != 1 {
		return fmt.Errorf("the TIFF image has %d numbers for each pixel: save the mask as grey values", n)
	}
	ok := format <= 2 && (bits == 1 && format == 1 || bits == 8) || format <= 3 && (bits == 16 || bits == 32 || bits == 64)
	if !ok {
		return fmt.Errorf("the TIFF image has %d bits for each pixel in format %d: save the mask as integers of 8 bits", bits, format)
	}
	if pr := p.tag(tagPredictor, 1); pr != 1 && !(pr == 2 && format <= 2 && bits >= 8) && !(pr == 3 && format == 3) {
		return fmt.Errorf("the TIFF image uses predictor %d at %d bits: save the mask without one", pr, bits)
	}
	if float64(height)*float64(width)*float64(bits)/8 > mostExpansion*float64(p.size) {
		return fmt.Errorf("the TIFF file has %d bytes, too few for %d x %d pixels of %d bits: it is damaged or truncated, copy it again", p.size, height, width, bits)
	}
	return nil
}

// mostExpansion is a bound on how many bytes one byte of the file may stand for; LZW comes near it.
const mostExpansion = 4096

// mostPages is the largest number of pages of a TIFF file.
const mostPages = 1 << 20

// page reads the tags of the page with the given number, from 1, or of the only one. Small versions of pages do not count.
func (p *picture) page(key string) error {
	wanted, pages := 0, 0
	var err error
	if key != "" {
		if wanted, err = strconv.Atoi(key); err != nil || wanted < 1 {
			return fmt.Errorf("%q is no page of a TIFF image: name one by its number, from 1", foreign.Short(key, 40))
		}
	}
	var tags map[uint16][]uint64
	if err := p.each(func(int64) (bool, error) {
		if pages++; pages == max(wanted, 1) {
			tags = p.tags
		}
		return pages != wanted, nil
	}); err != nil {
		return err
	}
	p.tags = tags
	switch {
	case pages == 0:
		return fmt.Errorf("the TIFF file has no page: it is damaged, copy it again")
	case wanted > 0 && pages < wanted:
		return fmt.Errorf("the TIFF file has no page %d, but only %s: name another", wanted, errtext.Count(pages, "page"))
	case wanted == 0 && pages > 1:
		return fmt.Errorf("the TIFF file has %d pages: name one with --dataset, or as FILE:1", pages)
	}
	return nil
}

// each reads the tags of the pages one after another and calls f with the position of each until it says not to go on. Small versions of
// pages do not count.
func (p *picture) each(f func(at int64) (goOn bool, err error)) error {
	at, err := p.start()
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	for at != 0 && len(seen) < mostPages {
		if seen[at] {
			return fmt.Errorf("page %d of the TIFF file is followed by an earlier one: it is damaged, copy it again", len(seen))
		}
		seen[at] = true
		here := at
		p.tags = map[uint16][]uint64{}
		if at, err = p.directory(at); err != nil {
			return err
		}
		if p.tag(tagSubfile, 0)&1 != 0 {
			continue
		}
		if goOn, err := f(here); err != nil || !goOn {
			return err
		}
	}
	if at != 0 {
		return fmt.Errorf("the TIFF file has more than %d pages: divide it into several", mostPages)
	}
	return nil
}

// start reads the head of the file and returns the position of the first page.
func (p *picture) start() (int64, error) {
	head := make([]byte, 8)
	if _, err := p.r.ReadAt(head, 0); err != nil {
		return 0, fmt.Errorf("the file of %d bytes is not a TIFF image: give a TIFF, or use the extension of its format", p.size)
	}
	switch string(head[:4]) {
	case "II*\x00", "II+\x00":
		p.order = binary.LittleEndian
	case "MM\x00*", "MM\x00+":
		p.order = binary.BigEndian
	default:
		return 0, fmt.Errorf("the file begins with %q and is not a TIFF image: give a TIFF, or use the extension of its format", head[:4])
	}
	p.big = p.order.Uint16(head[2:]) == 43
	at := int64(p.order.Uint32(head[4:]))
	if p.big {
		if wide := p.order.Uint16(head[4:]); wide != 8 {
			return 0, fmt.Errorf("the BigTIFF file has positions of %d bytes instead of 8: it is damaged, copy it again", wide)
		}
		place, err := p.bytes(8, 8)
		if err != nil {
			return 0, err
		}
		at = p.position(place)
	}
	return at, nil
}

// directory reads the tags of a page, and returns the position of the next one, 0 after the last.
func (p *picture) directory(at int64) (next int64, err error) {
	countWide, entryWide, nextWide := int64(2), int64(12), int64(4)
	if p.big {
		countWide, entryWide, nextWide = 8, 20, 8
	}
	b, err := p.bytes(at, countWide)
	if err != nil {
		return 0, err
	}
	count := int64(p.order.Uint16(b))
	if p.big {
		count = p.position(b)
	}
	if count > math.MaxUint16 {
		return 0, fmt.Errorf("the TIFF file lists %d tags: it is damaged, copy it again", count)
	}
	entries, err := p.bytes(at+countWide, count*entryWide)
	if err != nil {
		return 0, err
	}
	for ; len(entries) > 0; entries = entries[entryWide:] {
		if err := p.entry(entries[:entryWide]); err != nil {
			return 0, err
		}
	}
	after := at + countWide + count*entryWide
	if p.size-after < nextWide { // as files end whose last page has no place for another
		return 0, nil
	}
	if b, err = p.bytes(after, nextWide); err != nil {
		return 0, err
	}
	if p.big {
		return p.position(b), nil
	}
	return int64(p.order.Uint32(b)), nil
}

// position reads a number of 64 bits; one that no file has becomes the largest of 62, so that sums do not overflow.
func (p *picture) position(b []byte) int64 { return int64(min(p.order.Uint64(b), 1<<62)) }

// entry reads one tag of whole numbers.
func (p *picture) entry(e []byte) error {
	tag, value := p.order.Uint16(e), e[8:]
	n := int64(p.order.Uint32(e[4:]))
	if p.big {
		n, value = p.position(e[4:]), e[12:]
	}
	wide := map[uint16]int64{1: 1, 3: 2, 4: 4, 16: 8}[p.order.Uint16(e[2:])]
	if wide == 0 || n == 0 {
		return nil // text, fractions: nothing that matters here
	}
	if n > p.size {
		return fmt.Errorf("tag %d: it has %d numbers, more than the TIFF file has bytes (%d): it is damaged or truncated, copy it again", tag, n, p.size)
	}
	if n*wide > int64(len(value)) {
		at := int64(p.order.Uint32(value))
		if p.big {
			at = p.position(value)
		}
		var err error
		if value, err = p.bytes(at, n*wide); err != nil {
			return fmt.Errorf("tag %d: %w", tag, err)
		}
	}
	list := make([]uint64, n)
	for i := range list {
		switch v := value[int64(i)*wide:]; wide {
		case 1:
			list[i] = uint64(v[0])
		case 2:
			list[i] = uint64(p.order.Uint16(v))
		case 4:
			list[i] = uint64(p.order.Uint32(v))
		case 8:
			list[i] = uint64(p.position(v))
		}
	}
	p.tags[tag] = list
	return nil
}

// bytes returns a part of the file.
func (p *picture) bytes(at, n int64) ([]byte, error) {
	if err := p.holds(at, n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, p.read(b, at)
}

// holds returns an error if the file ends before a part of it does.
func (p *picture) holds(at, n int64) error {
	if at < 0 || n < 0 || at > p.size || n > p.size-at {
		return fmt.Errorf("the TIFF file has %d bytes and ends before byte %d: it is damaged or truncated, copy it again", p.size, at+n)
	}
	return nil
}

// read fills b with a part of the file.
func (p *picture) read(b []byte, at int64) error {
	if err := p.holds(at, int64(len(b))); err != nil {
		return err
	}
	if _, err := p.r.ReadAt(b, at); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// tag returns the first number of a tag.
func (p *picture) tag(tag uint16, missing int) int {
	if v := p.tags[tag]; len(v) > 0 {
		return int(min(v[0], math.MaxInt32))
	}
	return missing
}

// pieceOfStrip is the size in bytes of the pieces in which strips that are not packed are read.
const pieceOfStrip = 1 << 20

// blocks reads the strips or tiles.
func (p *picture) blocks(m canvas, bits, format int) error {
	wide, high := m.Width, min(p.tag(tagRowsPerStrip, m.Height), m.Height)
	offsets, lengths := p.tags[tagStrips], p.tags[tagStripBytes]
	tiled := p.tags[tagTiles] != nil
	if tiled {
		wide, high = p.tag(tagTileWidth, 0), p.tag(tagTileHeight, 0)
		offsets, lengths = p.tags[tagTiles], p.tags[tagTileBytes]
		if wide > 2*m.Width+1024 || high > 2*m.Height+1024 {
			return fmt.Errorf("tiles of %d x %d pixels do not fit an image of %d x %d: the TIFF file is damaged, copy it again", high, wide, m.Height, m.Width)
		}
	}
	if wide < 1 || high < 1 {
		return fmt.Errorf("blocks of %d x %d pixels are not possible: the TIFF file is damaged, copy it again", high, wide)
	}
	across, down := (m.Width+wide-1)/wide, (m.Height+high-1)/high
	if len(offsets) < across*down || len(lengths) < across*down {
		return fmt.Errorf("there are %d positions and %d lengths for %d blocks: the TIFF file is damaged, copy it again", len(offsets), len(lengths), across*down)
	}
	for k := range across * down {
		row, col := k/across*high, k%across*wide
		rows := high
		if !tiled {
			rows = min(high, m.Height-row)
		}
		stride := (wide*bits + 7) / 8
		if n := max(1, pieceOfStrip/stride); p.tag(tagCompression, 1) == 1 && rows > n && int64(lengths[k]) >= int64(rows*stride) {
			buffer := make([]byte, n*stride)
			for from := 0; from < rows; from += n { // a strip may be the whole image
				b := buffer[:min(n, rows-from)*stride]
				if err := p.read(b, int64(offsets[k])+int64(from*stride)); err != nil {
					return fmt.Errorf("block %d: %w", k, err)
				}
				p.place(m, b, row+from, col, min(n, rows-from), wide, bits, format)
			}
			continue
		}
		b, err := p.block(int64(offsets[k]), int64(lengths[k]), rows*stride)
		if err != nil {
			return fmt.Errorf("block %d: %w", k, err)
		}
		p.place(m, b, row, col, rows, wide, bits, format)
	}
	return nil
}

// block returns the unpacked bytes of a block.
func (p *picture) block(at, n int64, want int) ([]byte, error) {
	packed, err := p.bytes(at, n)
	if err != nil {
		return nil, err
	}
	in := io.NewSectionReader(p.r, at, n)
	var unpacked io.Reader
	switch c := p.tag(tagCompression, 1); c {
	case 1:
		if len(packed) < want {
			return nil, fmt.Errorf("a block has %d bytes instead of %d: the TIFF file is damaged, copy it again", len(packed), want)
		}
		return packed[:want], nil
	case 5:
		unpacked = lzw.NewReader(in, lzw.MSB, 8)
	case 8, 32946, 50000:
		if unpacked, err = p.unpacker(c, in); err != nil {
			return nil, err
		}
		if z, ok := unpacked.(*zstd.Decoder); ok {
			defer z.Close()
		}
		b := make([]byte, want)
		if err := foreign.Exactly(b, unpacked); err != nil {
			return nil, fmt.Errorf("a block of %d bytes cannot be decompressed: %w: the TIFF file is damaged, copy it again", want, err)
		}
		return b, nil
	case 32773:
		return unpackBits(packed, want)
	default:
		return nil, fmt.Errorf("the TIFF compression %d%s cannot be read: save the mask with LZW, deflate, zstd or none", c, compressions[c])
	}
	b := make([]byte, want)
	if _, err := io.ReadFull(unpacked, b); err != nil {
		return nil, fmt.Errorf("a block of %d bytes cannot be decompressed: %w: the TIFF file is damaged, copy it again", want, err)
	}
	return b, nil
}

// compressions are the names of those that are not read, by their numbers.
var compressions = map[int]string{6: " (JPEG)", 7: " (JPEG)", 34712: " (JPEG 2000)", 34887: " (LERC)", 34925: " (LZMA)", 50001: " (WebP)", 50002: " (JPEG XL)"}

// unpacker returns what unpacks deflated blocks (8, 32946) and those of zstd (50000).
func (p *picture) unpacker(compression int, in io.Reader) (io.Reader, error) {
	if compression == 50000 {
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
	}
	return zlib.NewReader(in)
}

// unpackBits unpacks runs of equal bytes.
func unpackBits(b []byte, want int) ([]byte, error) {
	var out []byte
	for len(b) > 1 && len(out) < want {
		n := int(int8(b[0]))
		switch {
		case n >= 0 && n+2 <= len(b):
			out, b = append(out, b[1:n+2]...), b[n+2:]
		case n >= 0:
			b = nil
		case n == -128:
			b = b[1:]
		default:
			for range 1 - n {
				out = append(out, b[1])
			}
			b = b[2:]
		}
	}
	if len(out) < want {
		return nil, fmt.Errorf("a block has %d bytes instead of %d: the TIFF file is damaged, copy it again", len(out), want)
	}
	return out[:want], nil
}

// place puts a block onto the canvas. Numbers count as they are stored, also where the file calls 0 white, as tifffile does
// for every array of truth values: programs for masks read them so.
func (p *picture) place(m canvas, b []byte, row, col, rows, wide, bits, format int) {
	stride := (wide*bits + 7) / 8
	for r := 0; r < rows && row+r < m.Height; r++ {
		line := b[r*stride : (r+1)*stride]
		switch p.tag(tagPredictor, 1) {
		case 2:
			p.summed(line, bits/8)
		case 3:
			line = p.joined(line, bits/8)
		}
		for c := 0; c < wide && col+c < m.Width; c++ {
			m.set((row+r)*m.Width+col+c, p.number(line, c, bits, format))
		}
	}
}

// summed makes numbers of n bytes out of the differences of neighbours.
func (p *picture) summed(line []byte, n int) {
	for i := n; i+n <= len(line); i += n {
		at, before := line[i:], line[i-n:]
		switch n {
		case 1:
			at[0] += before[0]
		case 2:
			p.order.PutUint16(at, p.order.Uint16(at)+p.order.Uint16(before))
		case 4:
			p.order.PutUint32(at, p.order.Uint32(at)+p.order.Uint32(before))
		default:
			p.order.PutUint64(at, p.order.Uint64(at)+p.order.Uint64(before))
		}
	}
}

// joined makes floats of n bytes out of the differences of neighbouring bytes of a line, which has the highest bytes of all numbers first.
func (p *picture) joined(line []byte, n int) []byte {
	p.summed(line, 1)
	out := make([]byte, len(line))
	width := len(line) / n
	for c := range width {
		for k := range n {
			to := k
			if p.order == binary.ByteOrder(binary.LittleEndian) {
				to = n - 1 - k
			}
			out[c*n+to] = line[k*width+c]
		}
	}
	return out
}

// number returns number c of a line.
func (p *picture) number(line []byte, c, bits, format int) float64 {
	switch bits {
	case 1:
		return float64(line[c/8] >> (7 - c%8) & 1)
	case 8:
		if format == 2 {
			return float64(int8(line[c]))
		}
		return float64(line[c])
	case 16:
		v := p.order.Uint16(line[2*c:])
		switch format {
		case 2:
			return float64(int16(v))
		case 3:
			return float64(tensor.Half(v).Float32())
		}
		return float64(v)
	case 32:
		v := p.order.Uint32(line[4*c:])
		switch format {
		case 2:
			return float64(int32(v))
		case 3:
			return float64(math.Float32frombits(v))
		}
		return float64(v)
	}
	v := p.order.Uint64(line[8*c:])
	switch format {
	case 2:
		return float64(int64(v))
	case 3:
		return math.Float64frombits(v)
	}
	return float64(v)
}
