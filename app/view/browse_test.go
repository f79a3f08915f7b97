// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/euryale-dev/euryale/internal/browser"
	"github.com/euryale-dev/euryale/internal/localweb"
)

// The file that the browser is handed leads to the page.
func TestBrowserFindsThePage(t *testing.T) {
	server, err := localweb.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go server.Serve(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<title>found</title>") }))
	file, err := signpost(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	browser.Open(t, "file://"+file).Wait("document.title === 'found'")
}
