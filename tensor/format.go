// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"strconv"
	"strings"
)

// edge is the number of elements printed at each end of a long axis; long is the size above which
// arrays are abridged.
const (
	edge = 3
	long = 1000
)

// String prints the elements as nested rows, one per line, followed by the element type and the
// shape. Arrays of more than 1000 elements are abridged.
func (t *Tensor) String() string {
	var b strings.Builder
	t.write(&b, make([]int, 0, len(t.shape)))
	fmt.Fprintf(&b, " %v%v", t.dtype, []int(t.shape))
	return b.String()
}

func (t *Tensor) write(b *strings.Builder, idx []int) {
	depth := len(idx)
	if depth == len(t.shape) {
		b.WriteString(text(t.At(idx...)))
		return
	}
	sep := " "
	if depth < len(t.shape)-1 {
		sep = "\n" + strings.Repeat(" ", depth+1)
	}
	n := t.shape[depth]
	b.WriteByte('[')
	for i := 0; i < n; i++ {
		if i > 0 {
			b.WriteString(sep)
		}
		if t.Size() > long && n > 2*edge && i == edge {
			b.WriteString("..." + sep)
			i = n - edge
		}
		t.write(b, append(idx, i))
	}
	b.WriteByte(']')
}

func text(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', 6, 32)
	case Half:
		return strconv.FormatFloat(float64(v.Float32()), 'g', 6, 32)
	}
	return fmt.Sprint(v)
}
