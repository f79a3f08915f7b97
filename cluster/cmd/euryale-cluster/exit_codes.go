// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/cluster/queue"
	"github.com/euryale-dev/euryale/cluster/remote"
	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// The exit codes, which are those of euryale. Those from 64 on follow sysexits.h.
const (
	exitOK          = 0
	exitFailed      = 1  // the run failed, or --strict found failed items
	exitUsage       = 64 // wrong arguments or flags
	exitData        = 65 // a file has invalid content
	exitNoInput     = 66 // a file does not exist or cannot be read
	exitNoServer    = 69 // no server or store answers
	exitBug         = 70 // a bug in euryale-cluster
	exitCannotWrite = 73 // results or the server's data cannot be written
	exitConfig      = 78 // a token, a manifest or a folder is not the leader's
	exitInterrupted = 130
)

// exitError is an error with its exit code and, optionally, a hint.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// coded assigns an exit code to an error.
func coded(ctx context.Context, err error) *exitError {
	var have *exitError
	var server *queue.NoServerError
	var other *queue.OtherManifestError
	var apart *queue.NotSharedError
	var results *batch.OtherManifestError
	var store *remote.AccessError
	var path *fs.PathError
	switch {
	case errors.As(err, &have):
		return have
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, err: err, hint: "run the same command again, which continues from here"}
	case errors.As(err, &server):
		return &exitError{code: exitNoServer, err: err, hint: "add --wait 5m if the leader starts later"}
	case errors.As(err, &other), errors.As(err, &apart), errors.As(err, &results), access(err):
		return &exitError{code: exitConfig, err: err}
	case atomicfile.Room(err) != "":
		return &exitError{code: exitCannotWrite, err: err, hint: atomicfile.Room(err) + ", then run the same command again, which continues from here"}
	case atomicfile.Writing(err):
		return &exitError{code: exitCannotWrite, err: err}
	case errors.As(err, &path), errors.Is(err, fs.ErrNotExist):
		return &exitError{code: exitNoInput, err: err}
	case errors.As(err, &store):
		return &exitError{code: exitNoServer, err: err}
	}
	return &exitError{code: exitFailed, err: err}
}

// access reports whether an error is about who may connect to whom.
func access(err error) bool {
	return errors.As(err, new(*queue.AccessError)) || errors.As(err, new(*queue.ImpostorError)) || errors.As(err, new(*queue.TokenError)) || errors.As(err, new(*queue.ClearTextError)) ||
		errors.As(err, new(*queue.CertificateError)) || errors.As(err, new(*queue.UnprovenError))
}
