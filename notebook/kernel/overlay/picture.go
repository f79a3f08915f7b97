// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
)

// cssPixels is the number of pixels in an inch of a web page.
const cssPixels = 96

// sized tells the front end how large the picture of a value is, where it has more pixels for an inch
// than a page, so that its letters are of the size of those around it.
func sized(d Data) Data {
	file, isPicture := d.Data["image/png"].([]byte)
	if text, isText := d.Data["image/png"].(string); isText {
		file, _ = base64.StdEncoding.DecodeString(text)
		isPicture = true
	}
	if !isPicture {
		return d
	}
	if width, height := sizeOf(file); width > 0 {
		if d.Metadata == nil {
			d.Metadata = MIMEMap{}
		}
		d.Metadata["image/png"] = map[string]any{"width": width, "height": height}
	}
	return d
}

// sizeOf returns the size of a PNG file in pixels of a page; 0 if it does not say its resolution.
func sizeOf(file []byte) (width, height int) {
	const header = 8 + 25 // bytes of signature and IHDR
	at := bytes.Index(file, []byte("pHYs"))
	if at < 0 || len(file) < max(at+8, header) {
		return 0, 0
	}
	perInch := float64(binary.BigEndian.Uint32(file[at+4:])) * 0.0254
	if perInch <= cssPixels {
		return 0, 0
	}
	pixels := func(b []byte) int { return int(float64(binary.BigEndian.Uint32(b))/perInch*cssPixels + 0.5) }
	return pixels(file[16:20]), pixels(file[20:24])
}
