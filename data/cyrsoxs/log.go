// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// Log is the content of CyRSoXS.log for one run.
type Log struct {
	Version   string // version of the program
	Created   string // date and time of the run
	File      string // file of the morphology
	Shape     [3]int // number of voxels along Z, Y, X
	PhysSize  float64
	Materials int
	Config    *Config
	Rotations []Rotation // orientation of each beam
	Warnings  []string
}

// Rotation is the orientation of a beam and its detector.
type Rotation struct {
	KVector [3]float64
	Matrix  [3][3]float64 // rotation that takes z to KVector
	// rotation about the beam that takes the electric field into the xz plane, in degrees
	BaseAngle float64
}

// WriteLog writes the log of a run, and overwrites an existing one.
func WriteLog(name string, l *Log) error {
	return atomicfile.Write(name, true, func(w io.Writer) error {
		_, err := io.WriteString(w, l.String())
		return err
	})
}

// String returns the text of the log. It contains all settings, in the syntax of config.txt.
func (l *Log) String() string {
	var b strings.Builder
	put := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s "+format+"\n", append([]any{key}, args...)...)
	}
	put("version", "%s", l.Version)
	if l.Created != "" {
		put("date", "%s", l.Created)
	}
	put("morphology", "%s", l.File)
	put("materials", "%d", l.Materials)
	put("voxels", "%d x %d x %d (Z, Y, X)", l.Shape[0], l.Shape[1], l.Shape[2])
	put("voxel edge", "%s nm", number(l.PhysSize))
	put("q", "%.6g to %.6g 1/nm", -math.Pi/l.PhysSize, math.Pi/l.PhysSize)
	if l.Config != nil {
		b.WriteString("\nsettings\n")
		for _, s := range l.Config.lines() {
			fmt.Fprintf(&b, "%s = %s;\n", s.key, s.value)
		}
	}
	for i, r := range l.Rotations {
		fmt.Fprintf(&b, "\nbeam %d: k = %s, base angle %s degrees, rotation\n", i, numberList(r.KVector[:]), number(r.BaseAngle))
		for _, row := range r.Matrix {
			fmt.Fprintf(&b, "%12.8f %12.8f %12.8f\n", row[0], row[1], row[2])
		}
	}
	for i, w := range l.Warnings {
		if i == 0 {
			b.WriteString("\nwarnings\n")
		}
		b.WriteString(w + "\n")
	}
	return b.String()
}
