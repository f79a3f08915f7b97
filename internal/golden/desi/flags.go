// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package desi

import (
	"fmt"
	"strings"
	"testing"
)

// Flags are the flags of a run's command line that change what it fits.
type Flags struct {
	Arms                     []string // --fitarm
	TargetIDs                []int64  // --targetid
	ObjTypes                 []string // --objtypes
	MinSN                    float64  // --minsn
	MinExpID, MaxExpID       int64    // --minexpid, --maxexpid
	StarsOnly, WithRedshifts bool     // --zbest_select, --zbest_include
	Resolution               bool     // --resolution_matrix
	NPoly                    int      // --npoly; 0 if it is not given
	NoContinuum              bool     // --no_ccf_continuum_normalize
}

// without are flags without a value that change nothing in a table of one run.
var without = "--skipexisting --overwrite --no_subdirs --mpi --verbose --throw_exceptions"

// Flags reads the command line of a run, or fails the test if it has a flag that is not known.
func (r *Run) Flags(t testing.TB) (f Flags) {
	t.Helper()
	for i := 0; i < len(r.Args); i++ {
		flag := r.Args[i]
		value := func(v any) {
			if i++; i >= len(r.Args) {
				t.Fatalf("desi: %s: the flag %s has no value", r.Run, flag)
			}
			switch v := v.(type) {
			case *[]string:
				*v = strings.Split(r.Args[i], ",")
			case *[]int64:
				for _, text := range strings.Split(r.Args[i], ",") {
					var id int64
					if _, err := fmt.Sscan(text, &id); err != nil {
						t.Fatalf("desi: %s: %s %s: %v", r.Run, flag, text, err)
					}
					*v = append(*v, id)
				}
			default:
				if _, err := fmt.Sscan(r.Args[i], v); err != nil {
					t.Fatalf("desi: %s: %s %s: %v", r.Run, flag, r.Args[i], err)
				}
			}
		}
		switch flag {
		case "--fitarm":
			value(&f.Arms)
		case "--targetid":
			value(&f.TargetIDs)
		case "--objtypes":
			value(&f.ObjTypes)
		case "--minsn":
			value(&f.MinSN)
		case "--minexpid":
			value(&f.MinExpID)
		case "--maxexpid":
			value(&f.MaxExpID)
		case "--npoly":
			value(&f.NPoly)
		case "--zbest_select":
			f.StarsOnly = true
		case "--zbest_include":
			f.WithRedshifts = true
		case "--resolution_matrix":
			f.Resolution = true
		case "--no_ccf_continuum_normalize":
			f.NoContinuum = true
		default:
			if !strings.Contains(" "+without+" ", " "+flag+" ") {
				t.Fatalf("desi: %s: the test does not know the flag %s", r.Run, flag)
			}
		}
	}
	return f
}
