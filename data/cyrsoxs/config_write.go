package cyrsoxs

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// WriteConfig writes config.txt, over one that is there. CyRSoXS, NRSS and
// ReadConfig read it: the eleven lines of NRSS, then settings NRSS does not know
// where they differ from the default.
func WriteConfig(name string, c *Config) error {
	if err := c.mistakes().in(name); err != nil {
		return err
	}
	return atomicfile.Write(name, true, func(w io.Writer) error {
		_, err := io.WriteString(w, c.String())
		return err
	})
}

// String is the text of config.txt.
func (c *Config) String() string {
	var b strings.Builder
	put := func(key string, value any) { fmt.Fprintf(&b, "%s = %v;\n", key, value) }
	put("CaseType", int(c.CaseType))
	put("Energies", numberList(c.Energies))
	put("EAngleRotation", numberList(c.EAngleRotation[:]))
	put("MorphologyType", int(c.MorphologyType))
	put(keyAlias, int(c.Algorithm))
	put("NumThreads", c.NumThreads)
	put("DumpMorphology", capital(c.DumpMorphology))
	put("ScatterApproach", int(c.ScatterApproach))
	put("WindowingType", int(c.Window))
	put("RotMask", capital(c.RotMask))
	put("EwaldsInterpolation", int(c.Interpolation))
	d := NewConfig()
	if c.Algorithm != d.Algorithm {
		put("Algorithm", int(c.Algorithm))
	}
	if c.MaxStreams != d.MaxStreams {
		put("MaxStreams", c.MaxStreams)
	}
	if c.ReferenceFrame != d.ReferenceFrame {
		put("ReferenceFrame", int(c.ReferenceFrame))
	}
	if c.HDF5Dir != d.HDF5Dir {
		put("HDF5DirName", quote(c.HDF5Dir))
	}
	if c.CaseType != NormalIncidence {
		put(keyBeams, beamList(c.KVectors))
	}
	if c.CaseType == GrazingIncidence {
		put(keyDetector, numberList(c.Detector[:]))
	}
	return b.String()
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

// number writes a float as Python does: the fewest digits that give it back,
// with a point or an exponent, which libconfig takes for a fraction.
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

// capital writes a truth value as Python does; libconfig takes any case.
func capital(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// quote writes text with the escapes of libconfig.
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
