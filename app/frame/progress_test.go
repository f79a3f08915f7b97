// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/exit"
)

// Work that cannot be stopped is left behind when a run is interrupted; its error, or a fault of ours, is passed on.
func TestWorkThatIsLeftBehind(t *testing.T) {
	a := &App{Quiet: true, Screen: io.Discard}
	ctx, cancel := context.WithCancel(t.Context())
	forever := make(chan struct{})
	defer close(forever)
	if err := a.WhileWaitingIn(ctx, "a verdict", func() error { cancel(); <-forever; return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	bad := errors.New("bad")
	if err := a.WhileWaitingIn(t.Context(), "a verdict", func() error { return bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if err := a.WhileWaitingIn(t.Context(), "a verdict", func() error { panic("lost") }); exit.CodeOf(err) != exit.Bug || !strings.Contains(err.Error(), "lost") {
		t.Error(err)
	}
}
