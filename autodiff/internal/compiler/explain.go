// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"strings"
)

// listing prints values as text, one a line.
type listing struct {
	values  []*Value
	layouts bool // whether to print where the elements lie
}

func (l listing) String() string {
	var b strings.Builder
	for _, v := range l.values {
		fmt.Fprintf(&b, "  %v\n", v.definition(l.layouts))
	}
	return b.String()
}

// String returns the number of a value.
func (v *Value) String() string { return fmt.Sprintf("v%d", v.id) }

// definition returns text that says what v is computed from.
func (v *Value) definition(layout bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v%v = ", v, []int(v.Shape))
	c, isNumber := v.number()
	switch {
	case v.Op != nil:
		b.WriteString(v.Op.Name)
		for _, x := range v.In {
			fmt.Fprintf(&b, " %v", x)
		}
		if len(v.Attr) > 0 {
			fmt.Fprintf(&b, " by %v", v.Attr)
		}
	case isNumber:
		fmt.Fprintf(&b, "%g", c)
	case v.Data != nil || v.Ints != nil:
		b.WriteString("constant")
	default:
		fmt.Fprintf(&b, "input %s", v.Name)
	}
	if l := v.Layout; layout && l.Root != v {
		fmt.Fprintf(&b, ": in %v from %d, strides %v", l.Root, l.Offset, l.strides)
	}
	return b.String()
}

// fusion prints jobs as text: what each one computes, with a star at what it writes to memory.
type fusion []*Job

func (f fusion) String() string {
	var b strings.Builder
	for _, j := range f {
		if j.Step != nil {
			fmt.Fprintf(&b, "  stage %d: step %v\n", j.stage, j.Step.definition(false))
			continue
		}
		fmt.Fprintf(&b, "  stage %d: over %v", j.stage, []int(j.cluster.space))
		for _, v := range j.cluster.values {
			star := ""
			if v.Place.escapes {
				star = "*"
			}
			fmt.Fprintf(&b, "; %v%s %s", v, star, v.Op.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// String lists the arrays: their values, and where they lie.
func (p *planner) String() string {
	var b strings.Builder
	for i, buf := range p.Buffers[1:] {
		fmt.Fprintf(&b, "  array %d: %v, %s, elements %d to %d\n", i+1, buf.Value, buf.Kind, buf.Offset, buf.Offset+buf.Size)
	}
	return b.String()
}

func (k bufferKind) String() string {
	return [...]string{none: "none", inputBuf: "input", outputBuf: "output", tempBuf: "temporary", ConstBuf: "constant", IntBuf: "indices"}[k]
}
