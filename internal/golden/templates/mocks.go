// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// Arms returns the arms that the reference's library has grids of, sorted.
func Arms(t testing.TB) []string {
	t.Helper()
	return golden.Members(t, "spectra/library/interp_*.h5")
}

// CCFArms returns the arms that the reference has templates over their continuum for cross-correlation with, sorted.
func CCFArms(t testing.TB) []string {
	t.Helper()
	return slices.DeleteFunc(golden.Members(t, "spectra/ccf/ccf_*.h5"), func(arm string) bool { return strings.HasPrefix(arm, "nocont_") })
}

// Mocks returns the names of the mock stars in the order of chain.json.
func Mocks(t testing.TB) (names []string) {
	t.Helper()
	var f struct{ Cases []struct{ Mock string } }
	golden.JSON(t, &f, "spectra", "chain", "chain.json")
	for _, c := range f.Cases {
		if !slices.Contains(names, c.Mock) {
			names = append(names, c.Mock)
		}
	}
	return names
}

// MockSpectrum names the files of one spectrum of a mock star, below the topic spectra.
type MockSpectrum struct {
	Arm        string
	Exposure   string // _exp1, _exp2, ..., or "" for a star with one exposure
	File       string // rows of wavelength, flux, error and mask
	Resolution string // the banded resolution matrix; "" if there is none
}

// MockSpectra lists the spectra of a mock star: all arms of the first exposure, then those of the next. A star with resolution matrices
// of its own whose spectra are those of another has a name that begins with the name of the other.
func MockSpectra(t testing.TB, name string) (list []MockSpectrum) {
	t.Helper()
	arms := Arms(t)
	data := name
	for _, other := range Mocks(t) {
		if banded(t, name, arms) && !exists(t, data, arms) && strings.HasPrefix(name, other) && exists(t, other, arms) {
			data = other
		}
	}
	for _, exposure := range exposures(t, data, arms) {
		for _, arm := range arms {
			m := MockSpectrum{Arm: arm, Exposure: exposure, File: "chain/" + data + "_" + arm + exposure + ".npy"}
			if !golden.Has(t, "spectra", m.File) {
				continue
			}
			if r := "chain/" + name + "_" + arm + "_banded.npy"; golden.Has(t, "spectra", r) {
				m.Resolution = r
			}
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		t.Fatalf("templates: the mock star %s has no spectra in any of the arms %v", name, arms)
	}
	return list
}

func banded(t testing.TB, name string, arms []string) bool {
	return slices.ContainsFunc(arms, func(arm string) bool { return golden.Has(t, "spectra/chain", name+"_"+arm+"_banded.npy") })
}

func exists(t testing.TB, name string, arms []string) bool {
	return slices.ContainsFunc(arms, func(arm string) bool { return golden.Has(t, "spectra/chain", name+"_"+arm+".npy") })
}

// exposures returns the endings of a star's files, in order of their numbers.
func exposures(t testing.TB, name string, arms []string) (list []string) {
	t.Helper()
	if exists(t, name, arms) {
		return []string{""}
	}
	for _, arm := range arms {
		for _, file := range golden.Glob(t, "spectra/chain/*.npy") {
			rest, ok := strings.CutPrefix(strings.TrimSuffix(path.Base(file), ".npy"), name+"_"+arm+"_exp")
			if _, err := strconv.Atoi(rest); ok && err == nil && !slices.Contains(list, "_exp"+rest) {
				list = append(list, "_exp"+rest)
			}
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return list
}
