// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskpage

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/tier"
)

// Clients that ask for pictures and read nothing, and those that send half of a step, leave the others fluent.
func TestStalledClients(t *testing.T) {
	p, kept := testPage(t, 800, 900)
	s := httptest.NewServer(p)
	defer s.Close()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tier.Of(100, 1000) {
		c, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		text := "GET /image.png?low=1&high=1000&scale=log HTTP/1.1\r\nHost: x\r\n\r\n"
		if i%2 == 1 {
			text = "POST /step HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"draw\": ["
		}
		if i < 40 && i%2 == 0 { // many requests in a row, so that answers fill what the system takes
			for range 5 {
				text += "GET /image.png?low=1&high=1000&scale=linear HTTP/1.1\r\nHost: x\r\n\r\n"
			}
		}
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
	}
	client := http.Client{Timeout: time.Minute}
	for i := range 5 {
		answer, err := client.Post(s.URL+"/step", "application/json", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if d := answered(t, p, "POST", "/step", fmt.Sprintf(`{"draw": [{"kind": "circle", "center": [%d, 12], "radius": 5.2}]}`, 20+20*i)); d.Rev != i+1 {
			t.Errorf("revision %d after %d steps", d.Rev, i+1)
		}
	}
	if len(*kept) != 5 {
		t.Errorf("%d steps were kept", len(*kept))
	}
}
