// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// until cancels a context when a text has been written.
type until struct {
	text   string
	cancel context.CancelFunc
}

func (u until) Write(b []byte) (int, error) {
	if strings.Contains(string(b), u.text) {
		u.cancel()
	}
	return len(b), nil
}

// The network learns, and a run that was interrupted writes the same weights.
func TestShapes(t *testing.T) {
	dir := t.TempDir()
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	accuracy, err := train(context.Background(), io.Discard, whole, 3)
	if err != nil {
		t.Fatal(err)
	}
	if accuracy < 0.95 {
		t.Errorf("accuracy %g", accuracy)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := train(ctx, until{"epoch 2", cancel}, parts, 3); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := train(context.Background(), io.Discard, parts, 3); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(filepath.Join(whole, "network.safetensors"))
	b, _ := os.ReadFile(filepath.Join(parts, "network.safetensors"))
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("a run that was interrupted has other weights")
	}
}
