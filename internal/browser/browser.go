// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package browser drives a headless Chromium in tests of pages, with the mouse and the keyboard of a person.
//
// It speaks the DevTools protocol over the two pipes of --remote-debugging-pipe, so that it needs no WebSocket and no
// module besides the standard library. Tests are skipped where no Chromium is installed.
//
//	p := browser.Open(t, url)
//	p.Wait("document.readyState === 'complete'")
//	p.Drag(100, 100, 140, 100)
//	p.Eval("document.title", &title)
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// patience is how long a page may take for anything.
const patience = 30 * time.Second

// names are those of the programs that are looked for.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// flags keep the browser to the page: no windows, no network of its own.
var flags = []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
	"--disable-sync", "--disable-extensions", "--disable-default-apps", "--mute-audio", "--hide-scrollbars", "--remote-debugging-pipe", "--window-size=1280,820"}

// Page is an open page. Its methods end the test where the page does not do what it should.
type Page struct {
	t       *testing.T
	in      io.Writer
	answers chan message
	id      int
	session string
	// Failures are errors of scripts and of loading that the page reported so far.
	Failures []string
}

// message is a command, an answer or an event of the protocol.
type message struct {
	ID      int             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// Open starts a browser with a new profile and loads a page. The browser ends with the test.
func Open(t *testing.T, url string) *Page {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("lacks pipes to a browser on Windows")
	}
	program := ""
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("lacks chromium: install it to test pages")
	}
	p := &Page{t: t, answers: make(chan message, 1000)}
	p.start(program)
	var target struct {
		ID string `json:"targetId"`
	}
	p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		Session string `json:"sessionId"`
	}
	p.call("Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached)
	p.session = attached.Session
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.call(domain+".enable", nil, nil)
	}
	p.Resize(1280, 820)
	p.call("Page.navigate", map[string]any{"url": url}, nil)
	return p
}

// start starts the program, which reads commands from descriptor 3 and writes to 4.
func (p *Page) start(program string) {
	p.t.Helper()
	theirs, in, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, others, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(program, append(flags, "--user-data-dir="+profile)...)
	cmd.ExtraFiles = []*os.File{theirs, others}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	theirs.Close()
	others.Close()
	p.in = in
	go func() {
		defer close(p.answers)
		r := bufio.NewReader(out)
		for {
			b, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal(b[:len(b)-1], &m) == nil {
				p.answers <- m
			}
		}
	}()
	p.t.Cleanup(func() {
		in.Close() // ends the browser
		timer := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
		for range p.answers { // until it has ended
		}
		cmd.Wait()
		timer.Stop()
		out.Close()
		os.RemoveAll(profile)
	})
}

// call sends a command and reads its result.
func (p *Page) call(method string, params, result any) {
	p.t.Helper()
	if err := p.try(method, params, result); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

func (p *Page) try(method string, params, result any) error {
	p.id++
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if params == nil {
		b = []byte("{}")
	}
	text, err := json.Marshal(message{ID: p.id, Method: method, Params: b, Session: p.session})
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(text, 0)); err != nil {
		return err
	}
	for limit := time.After(patience); ; {
		select {
		case m, ok := <-p.answers:
			switch {
			case !ok:
				return fmt.Errorf("the browser has closed: start it again")
			case m.ID == p.id && m.Error != nil:
				return fmt.Errorf("%s", m.Error.Message)
			case m.ID == p.id && result != nil:
				return json.Unmarshal(m.Result, result)
			case m.ID == p.id:
				return nil
			case m.ID == 0:
				p.event(m)
			}
		case <-limit:
			return fmt.Errorf("the browser did not answer within %v: try again", patience)
		}
	}
}

// event keeps what went wrong in the page.
func (p *Page) event(m message) {
	switch m.Method {
	case "Runtime.exceptionThrown":
		p.Failures = append(p.Failures, string(m.Params))
	case "Log.entryAdded":
		var e struct {
			Entry struct{ Level, Text, URL string }
		}
		if json.Unmarshal(m.Params, &e) == nil && e.Entry.Level == "error" {
			p.Failures = append(p.Failures, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Eval evaluates an expression, awaits it if it is a promise, and stores its value in v, which may be nil.
func (p *Page) Eval(expression string, v any) {
	p.t.Helper()
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.Exception != nil {
		p.t.Fatalf("%s: %s %s", expression, r.Exception.Text, r.Exception.Exception.Description)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(r.Result.Value, v); err != nil {
		p.t.Fatalf("%s: %v: %s", expression, err, r.Result.Value)
	}
}

// Wait waits until an expression is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var ok bool
		if p.Eval("Boolean("+expression+")", &ok); ok {
			return
		}
	}
	p.t.Fatalf("after %v it is not so that %s; the page reported %q", patience, expression, p.Failures)
}

// mouse sends an event of the mouse. Lengths are in CSS pixels from the upper left corner of the page.
func (p *Page) mouse(kind string, x, y float64, buttons, clicks int) {
	p.t.Helper()
	button := "none"
	if kind != "mouseMoved" || buttons > 0 {
		button = "left"
	}
	p.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks}, nil)
}

// Move moves the mouse.
func (p *Page) Move(x, y float64) { p.t.Helper(); p.mouse("mouseMoved", x, y, 0, 0) }

// Click clicks at a place.
func (p *Page) Click(x, y float64) {
	p.t.Helper()
	p.Move(x, y)
	p.mouse("mousePressed", x, y, 1, 1)
	p.mouse("mouseReleased", x, y, 0, 1)
}

// Drag presses the button, moves in a few steps and releases it.
func (p *Page) Drag(x0, y0, x1, y1 float64) {
	p.t.Helper()
	p.Move(x0, y0)
	p.mouse("mousePressed", x0, y0, 1, 1)
	const steps = 4
	for k := 1; k <= steps; k++ {
		f := float64(k) / steps
		p.mouse("mouseMoved", x0+f*(x1-x0), y0+f*(y1-y0), 1, 0)
	}
	p.mouse("mouseReleased", x1, y1, 0, 1)
}

// ClickOn clicks on the middle of the element that a CSS selector names.
func (p *Page) ClickOn(selector string) {
	p.t.Helper()
	var at [2]float64
	p.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "nearest"}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`, selector), &at)
	p.Click(at[0], at[1])
}

// Key presses and releases a key, such as "Enter"; with is the sum of 1 for Alt, 2 for Ctrl and 8 for Shift.
func (p *Page) Key(key, code string, virtual, with int) {
	p.t.Helper()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		p.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": virtual, "modifiers": with}, nil)
	}
}

// Type replaces the text of the field that a CSS selector names, and leaves the field.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Eval(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.focus(); e.select(); })()", selector), nil)
	p.call("Input.insertText", map[string]any{"text": text}, nil)
	p.Eval("document.activeElement.blur()", nil)
}

// Drop lets files or folders of this machine fall onto the page at a place.
func (p *Page) Drop(x, y float64, paths ...string) {
	p.t.Helper()
	data := map[string]any{"items": []any{}, "files": paths, "dragOperationsMask": 1}
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		p.call("Input.dispatchDragEvent", map[string]any{"type": kind, "x": x, "y": y, "data": data}, nil)
	}
}

// Resize makes the window of the page as wide and as high in CSS pixels.
func (p *Page) Resize(width, height int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Dark makes the page see a person who prefers dark colours.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Screenshot returns a picture of the page as PNG.
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	var r struct {
		Data string `json:"data"`
	}
	p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	b, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}
