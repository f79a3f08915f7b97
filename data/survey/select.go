// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
)

// Selection says which fibers of a DESI file to fit. All conditions must hold, except that one of
// ObjTypes and StarsOnly is enough. In addition, the fiber status must have no bits other than 3 and
// 20, and the type of object must not be SKY or BAD.
type Selection struct {
	Arms      []string // arms to fit and to compute the S/N of; default: all arms of the file
	MinExpID  int64    // lower limit: exposures must have larger numbers; default: no limit
	MaxExpID  int64    // largest number of an exposure; default: no limit
	TargetIDs []int64  // targets to fit; default: all targets
	MinSN     float64  // lower limit that the best S/N of the arms must exceed; default: no limit
	ObjTypes  []string // regular expressions of names in DESI_TARGET, such as MWS_ANY or STD_.*
	// StarsOnly requires that the redshift file says STAR, or a velocity below 1500 km/s. Without a
	// redshift file all fibers are chosen, and Chosen.RedshiftFile is empty.
	StarsOnly bool
	// WithRedshifts reads the redshift file even if no condition needs it.
	WithRedshifts bool
}

// Chosen is the result of a selection.
type Chosen struct {
	Arms         []string
	Rows         []int                // rows of FIBERMAP
	SN           map[string][]float64 // S/N of all rows, by arm
	RedshiftFile string               // name of the redshift file; "" if none was found or read
	Z            []float64            // redshifts of all rows, NaN if unknown
	SpecType     []string             // spectral type of all rows
	SubType      []string             // spectral subtype of all rows
}

// targetBits are bits of DESI_TARGET, as in the public file targetmask.yaml of desitarget.
var targetBits = map[string]int{"LRG": 0, "ELG": 1, "QSO": 2, "SKY": 32, "STD_FAINT": 33, "STD_WD": 34, "STD_BRIGHT": 35, "BAD_SKY": 36, "SUPP_SKY": 37,
	"NO_TARGET": 49, "BRIGHT_OBJECT": 50, "IN_BRIGHT_OBJECT": 51, "NEAR_BRIGHT_OBJECT": 52, "BGS_ANY": 60, "MWS_ANY": 61, "SCND_ANY": 62}

// Redshifts holds the rows of a redrock- or zbest- file.
type Redshifts struct {
	TargetID []int64
	Z        []float64
	SpecType []string
	SubType  []string
}

// FindRedshifts returns the redrock- or zbest- file that belongs to a coadd- or spectra- file, and its
// extension. It returns "" if there is none.
func FindRedshifts(name string) (file, extension string) {
	dir, base := filepath.Split(name)
	base = strings.TrimSuffix(base, ".gz")
	for _, pre := range []string{"coadd-", "spectra-"} {
		rest, ok := strings.CutPrefix(base, pre)
		if !ok {
			continue
		}
		for _, kind := range [][2]string{{"redrock-", "REDSHIFTS"}, {"zbest-", "ZBEST"}} {
			for _, post := range []string{"", ".gz"} {
				file := filepath.Join(dir, kind[0]+rest+post)
				if _, err := os.Stat(file); err == nil {
					return file, kind[1]
				}
			}
		}
	}
	return "", ""
}

// ReadRedshifts reads a redrock- or zbest- file.
func ReadRedshifts(file, extension string) (*Redshifts, error) {
	f, err := fits.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := f.Table(extension)
	if err != nil {
		return nil, err
	}
	r := &Redshifts{}
	for key, read := range map[string]func(c *fits.Column) error{
		"TARGETID": func(c *fits.Column) (err error) { r.TargetID, err = c.Int64s(); return },
		"Z":        func(c *fits.Column) (err error) { r.Z, err = c.Float64s(); return },
		"SPECTYPE": func(c *fits.Column) (err error) { r.SpecType, err = c.Strings(); return },
		"SUBTYPE":  func(c *fits.Column) (err error) { r.SubType, err = c.Strings(); return },
	} {
		c, err := t.Column(key)
		if err == nil {
			err = read(c)
		}
		if err != nil {
			return nil, err
		}
		if c.Repeat != 1 {
			return nil, bad(file, key, "the column has %d elements in each row: want 1", c.Repeat)
		}
	}
	return r, nil
}

// Select returns the fibers to fit.
func (d *DESI) Select(s Selection) (*Chosen, error) {
	c := &Chosen{SN: map[string][]float64{}}
	for _, arm := range s.Arms { // an arm named twice would count twice
		if !slices.Contains(c.Arms, arm) {
			c.Arms = append(c.Arms, arm)
		}
	}
	if len(c.Arms) == 0 {
		c.Arms = d.Arms
	}
	n := len(d.TargetID)
	keep := make([]bool, n)
	for i := range keep {
		keep[i] = true
	}
	and := func(ok func(i int) bool) {
		for i := range keep {
			keep[i] = keep[i] && ok(i)
		}
	}
	if err := d.selectMetadata(s, and); err != nil {
		return nil, err
	}
	least := s.MinSN
	if least == 0 {
		least = -1e9
	}
	best := make([]float64, n)
	for k, arm := range c.Arms {
		sn, err := d.SignalToNoise(arm)
		if err != nil {
			return nil, err
		}
		c.SN[arm] = sn
		for i := range best {
			if k == 0 {
				best[i] = sn[i]
			}
			best[i] = math.Max(best[i], sn[i]) // NaN if any is
		}
	}
	and(func(i int) bool { return best[i] > least })
	either, by := make([]bool, n), false
	if len(s.ObjTypes) > 0 {
		if err := d.selectTypes(s.ObjTypes, either); err != nil {
			return nil, err
		}
		by = true
	}
	if err := c.redshifts(d, s, either, &by); err != nil {
		return nil, err
	}
	if by {
		and(func(i int) bool { return either[i] })
	}
	for i, ok := range keep {
		if ok {
			c.Rows = append(c.Rows, i)
		}
	}
	return c, nil
}

// column returns one integer per row of FIBERMAP.
func (d *DESI) column(name string) ([]int64, error) {
	c, err := d.Fibermap.Column(name)
	if err != nil {
		return nil, err
	}
	v, err := c.Int64s()
	if err == nil && len(v) != len(d.TargetID) {
		return nil, bad(d.Name, name, "the column has %d elements in each row: want 1", c.Repeat)
	}
	return v, err
}

// selectMetadata applies what FIBERMAP alone decides.
func (d *DESI) selectMetadata(s Selection, and func(func(i int) bool)) error {
	if d.Fibermap.Has("EXPID") {
		exp, err := d.column("EXPID")
		if err != nil {
			return err
		}
		lo, hi := s.MinExpID, s.MaxExpID
		if lo == 0 {
			lo = -1
		}
		if hi == 0 {
			hi = math.MaxInt64
		}
		and(func(i int) bool { return exp[i] > lo && exp[i] <= hi })
	}
	key := "FIBERSTATUS"
	if !d.Fibermap.Has(key) {
		key = "COADD_FIBERSTATUS"
	}
	status, err := d.column(key)
	if err != nil {
		return err
	}
	const allowed = 1<<3 | 1<<20 // restricted reach, variable
	and(func(i int) bool { return status[i]&^allowed == 0 })
	col, err := d.Fibermap.Column("OBJTYPE")
	if err != nil {
		return err
	}
	types, err := col.Strings()
	if err != nil {
		return err
	}
	if len(types) != len(d.TargetID) {
		return bad(d.Name, "OBJTYPE", "the column has %d elements in each row: want 1", col.Repeat)
	}
	and(func(i int) bool { return types[i] != "SKY" && types[i] != "BAD" })
	if s.TargetIDs != nil {
		wanted := map[int64]bool{}
		for _, id := range s.TargetIDs {
			wanted[id] = true
		}
		and(func(i int) bool { return wanted[d.TargetID[i]] })
	}
	return nil
}

// selectTypes marks rows whose DESI_TARGET has a bit whose name matches an expression at its start.
func (d *DESI) selectTypes(types []string, mark []bool) error {
	mask := int64(0)
	for _, t := range types {
		re, err := regexp.Compile("^(?:" + t + ")")
		if err != nil {
			return &FormatError{Format: "survey", Place: t, What: "the type of objects is not a regular expression", Err: err, Try: "give names such as MWS_ANY or STD_.*"}
		}
		for name, bit := range targetBits {
			if re.MatchString(name) {
				mask |= 1 << bit
			}
		}
	}
	if mask == 0 {
		return bad("", "", "no name of DESI_TARGET matches %q: want names such as MWS_ANY, STD_.* or BGS_ANY", types)
	}
	for _, key := range []string{"DESI_TARGET", "SV1_DESI_TARGET", "SV2_DESI_TARGET", "SV3_DESI_TARGET"} {
		if !d.Fibermap.Has(key) {
			continue
		}
		v, err := d.column(key)
		for i := range v {
			mark[i] = v[i]&mask != 0
		}
		return err
	}
	return &FormatError{Format: "survey", File: d.Name, Place: "DESI_TARGET", What: "FIBERMAP has no such column, so types of objects cannot be selected", Err: ErrIncomplete, Try: "select without ObjTypes"}
}

// redshifts reads the redshift file, if it is wanted and there, and marks stars.
func (c *Chosen) redshifts(d *DESI, s Selection, mark []bool, by *bool) error {
	n := len(d.TargetID)
	c.Z, c.SpecType, c.SubType = make([]float64, n), make([]string, n), make([]string, n)
	for i := range c.Z {
		c.Z[i] = math.NaN()
	}
	if !s.StarsOnly && !s.WithRedshifts {
		return nil
	}
	file, ext := FindRedshifts(d.Name)
	if file == "" {
		return nil
	}
	c.RedshiftFile = file
	r, err := ReadRedshifts(file, ext)
	if err != nil {
		return err
	}
	at := map[int64]int{}
	for i, id := range r.TargetID {
		at[id] = i
	}
	rows := slices.Equal(r.TargetID, d.TargetID)
	for i, id := range d.TargetID {
		k, ok := at[id]
		if rows {
			k = i
		}
		if !ok {
			continue
		}
		c.Z[i], c.SpecType[i], c.SubType[i] = r.Z[k], r.SpecType[k], r.SubType[k]
		if s.StarsOnly && (r.SpecType[k] == "STAR" || math.Abs(r.Z[k]) < 1500/3e5) {
			mark[i] = true
		}
	}
	*by = *by || s.StarsOnly
	return nil
}
