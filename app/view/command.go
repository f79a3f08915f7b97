// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/localweb"
)

// Field returns the command view.
func Field() frame.Field {
	return frame.Field{Commands: []frame.Command{{New: viewCommand}}}
}

func viewCommand(a *frame.App) *cobra.Command {
	var port int
	var noBrowser bool
	c := &cobra.Command{
		Use:   "view [FILE|FOLDER|RUN...]",
		Short: "Browse files and runs in a page, with pictures that zoom",
		Long: `Open a page in the browser that lists what files and folders hold (results of
correlators, frames, q maps, morphologies, scattering patterns, tables,
problems, fits and runs, also those that are still going on) with their pictures
and tables. Pictures zoom, say what is under the cursor, and are saved as SVG,
PNG or PDF, or their data as CSV. The command line that makes the same picture
stands below each. Fits and samplers can be started, watched, stopped and
resumed.

The page is served by this process on this machine alone, and ends with it:
press Ctrl-C. Without arguments, it shows the current folder.

  euryale view
  euryale view run4 A003_results.hdf
  euryale view /data/2026 --port 8080 --no-browser
`,
		RunE: func(c *cobra.Command, args []string) error { return runView(c.Context(), a, args, port, noBrowser) },
	}
	c.Flags().IntVar(&port, "port", 0, "port to listen on (default any that is free)")
	c.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address and open no browser")
	return c
}

// lastWord is how long commands that the page started have to save what they have.
const lastWord = time.Minute

func runView(ctx context.Context, a *frame.App, opened []string, port int, noBrowser bool) error {
	if port < 0 || port > 65535 {
		return exit.Usage("--port %d: want a number from 1 to 65535, or 0 for any that is free", port)
	}
	if len(opened) == 0 {
		opened = []string{"."}
	}
	executable, err := os.Executable()
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	p, err := newPage(a.Fields, a.Program, executable, opened)
	if err != nil {
		return err
	}
	server, err := localweb.Listen(fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return exit.With(exit.WrongUsage, err)
	}
	fmt.Fprintf(a.Stderr, "Look at %s\nTo finish, press Ctrl-C.\n", server.URL())
	if !noBrowser {
		if err := browse(server.URL()); err != nil {
			a.Note("no browser could be opened (%v): open the address yourself", err)
		}
	}
	err = server.Serve(ctx, p)
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	p.works.end(limit)
	return exit.With(exit.Failed, err)
}

// browse opens the address in the browser of the person.
func browse(address string) error {
	opener := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if opener == nil {
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no display")
		}
		opener = []string{"xdg-open"}
	}
	file, err := signpost(address)
	if err != nil {
		return err
	}
	time.AfterFunc(time.Minute, func() { os.Remove(file) })
	return exec.Command(opener[0], append(opener[1:], file)...).Start()
}

// signpost writes a file that leads a browser to the address: other people of the machine can read a command line, but not this file.
func signpost(address string) (string, error) {
	f, err := os.CreateTemp("", "euryale-view-*.html")
	if err != nil {
		return "", err
	}
	fmt.Fprintf(f, "<!doctype html><meta charset=\"utf-8\"><title>Euryale</title><meta http-equiv=\"refresh\" content=\"0;url=%s\"><a href=\"%[1]s\">Euryale</a>\n", address)
	return f.Name(), f.Close()
}
