// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package stan_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/peer"
)

// severalModes are the posteriors of posteriordb that have several modes: mixtures and topics that can change places.
var severalModes = regexp.MustCompile(`^normal_5-normal_mixture_k|-ldaK`)

// TestModesOfPosteriorDB samples every posterior of posteriordb that takes no more than 20 seconds, with three seeds at the defaults. None is said to lack
// a mode unless it has several. EURYALE_POSTERIORS is a regular expression for their names.
func TestModesOfPosteriorDB(t *testing.T) {
	dir := database(t)
	files, err := filepath.Glob(filepath.Join(dir, "posteriors", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	only := regexp.MustCompile(os.Getenv("EURYALE_POSTERIORS"))
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); only.MatchString(name) {
			t.Run(name, func(t *testing.T) { modesOf(t, dir, name, f) })
		}
	}
}

func modesOf(t *testing.T, dir, name, file string) {
	post := posteriorOf(t, dir, file)
	for seed := range uint64(3) {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		before := peer.CPUTime()
		fit, err := infer.Sample(ctx, post, infer.Settings{Seed: seed + 1})
		stop()
		if ctx.Err() != nil && err != nil {
			t.Skip("takes longer")
		}
		if err != nil {
			t.Fatal(err)
		}
		taken := peer.CPUTime() - before
		t.Logf("seed %d: %.2f s of the processor", seed+1, taken)
		for _, a := range fit.Diagnose().Problems() {
			if a.Check == diag.CheckModes && !severalModes.MatchString(name) {
				t.Errorf("seed %d: %s", seed+1, a)
			}
		}
	}
}
