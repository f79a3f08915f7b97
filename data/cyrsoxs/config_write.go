// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// WriteConfig writes config.txt, and overwrites an existing one. CyRSoXS, NRSS and ReadConfig read
// it: the eleven lines of NRSS, then the settings that NRSS does not know if they differ from the
// default.
func WriteConfig(name string, c *Config) error {
	if err := c.mistakes().in(name); err != nil {
		return err
	}
	return atomicfile.Write(name, true, func(w io.Writer) error {
		_, err := io.WriteString(w, c.String())
		return err
	})
}

// String returns the text of config.txt.
func (c *Config) String() string {
	var b strings.Builder
	for _, l := range c.lines() {
		if l.always || l.value != l.absent {
			fmt.Fprintf(&b, "%s = %s;\n", l.key, l.value)
		}
	}
	return b.String()
}

// line is one setting; if NRSS does not know it, absent is the value of a file without it.
type line struct {
	key, value string
	always     bool
	absent     string
}

// lines returns the settings in the order of NRSS.
func (c *Config) lines() []line {
	whole := func(n int) string { return strconv.Itoa(n) }
	all := []line{
		{key: "CaseType", value: whole(int(c.CaseType)), always: true},
		{key: "Energies", value: numberList(c.Energies), always: true},
		{key: "EAngleRotation", value: numberList(c.EAngleRotation[:]), always: true},
		{key: "MorphologyType", value: whole(int(c.MorphologyType)), always: true},
		{key: keyAlias, value: whole(int(c.Algorithm)), always: true},
		{key: "NumThreads", value: whole(c.NumThreads), always: true},
		{key: "DumpMorphology", value: capital(c.DumpMorphology), always: true},
		{key: "ScatterApproach", value: whole(int(c.ScatterApproach)), always: true},
		{key: "WindowingType", value: whole(int(c.Window)), always: true},
		{key: "RotMask", value: capital(c.RotMask), always: true},
		{key: "EwaldsInterpolation", value: whole(int(c.Interpolation)), always: true},
		{key: "Algorithm", value: whole(int(c.Algorithm)), absent: "0"},
		{key: "MaxStreams", value: whole(c.MaxStreams), absent: "1"},
		{key: "ReferenceFrame", value: whole(int(c.ReferenceFrame)), absent: "1"},
		{key: "HDF5DirName", value: quote(c.HDF5Dir), absent: `"HDF5"`},
	}
	if c.CaseType != NormalIncidence {
		all = append(all, line{key: keyBeams, value: beamList(c.KVectors), always: true})
	}
	if c.CaseType == GrazingIncidence {
		all = append(all, line{key: keyDetector, value: numberList(c.Detector[:]), always: true})
	}
	return all
}

func beamList(all [][3]float64) string {
	var parts []string
	for _, k := range all {
		parts = append(parts, "{ k = "+numberList(k[:])+"; }")
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func numberList(all []float64) string {
	var parts []string
	for _, v := range all {
		parts = append(parts, number(v))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// number formats a float as Python does: the fewest digits that restore it, with a point or an
// exponent, by which libconfig recognises a fraction.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'e', -1, 64)
	_, exponent, _ := strings.Cut(s, "e")
	if e, _ := strconv.Atoi(exponent); e < -4 || e >= 16 {
		return s
	}
	s = strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// capital formats a truth value as Python does; libconfig accepts any case.
func capital(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// quote formats text with the escapes of libconfig.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
