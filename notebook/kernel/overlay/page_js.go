// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"syscall/js"

	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/xreflect"
)

// asked is a request of the page, and answer calls its function with the reply.
type asked struct {
	Kind   string `json:"kind"` // execute, complete or whole
	Code   string `json:"code"`
	Cursor int    `json:"cursor"` // in characters
}

// runInPage serves a page in place of sockets. The function euryaleAsk of the page's worker takes a request as JSON, and calls a second argument with
// the kind and the JSON content of each output, and at last with "reply". Requests are answered one after the other. What cells print goes to the files
// 1 and 2 of the page.
func runInPage() {
	k := &Kernel{ir: newInterpreter()}
	k.display = importPackage(k.ir, "display", "display")
	k.ir.DeclVar("Display", nil, stubDisplay)
	k.initRenderers()
	type turn struct {
		request string
		tell    js.Value
	}
	turns := make(chan turn, 100)
	js.Global().Set("euryaleAsk", js.FuncOf(func(_ js.Value, args []js.Value) any {
		turns <- turn{args[0].String(), args[1]}
		return nil
	}))
	js.Global().Call("euryaleReady")
	for t := range turns {
		var a asked
		reply := map[string]any{"status": "error", "evalue": "the request cannot be read"}
		if err := json.Unmarshal([]byte(t.request), &a); err == nil {
			reply = k.answerPage(a, func(kind string, content any) error {
				b, err := json.Marshal(content)
				if err == nil {
					t.tell.Invoke(kind, string(b))
				}
				return err
			})
		}
		b, _ := json.Marshal(reply) // of strings and numbers
		t.tell.Invoke("reply", string(b))
	}
}

// answerPage answers one request.
func (k *Kernel) answerPage(a asked, publish func(kind string, content any) error) map[string]any {
	switch a.Kind {
	case "complete":
		code := []rune(a.Code)
		at := len(string(code[:min(max(a.Cursor, 0), len(code))]))
		prefix, matches, _ := k.ir.CompleteWords(a.Code, at)
		from := len([]rune(prefix)) - len([]rune(interp.TailIdentifier(prefix)))
		return map[string]any{"status": "ok", "matches": append([]string{}, matches...), "cursor_start": from, "cursor_end": a.Cursor, "metadata": map[string]any{}}
	case "whole":
		status, indent := checkComplete(a.Code, k.ir)
		return map[string]any{"status": status, "indent": indent}
	}
	k.ir.ValueOf("Display").Set(xreflect.ValueOf(func(d Data) error {
		d = sized(d)
		return publish("display_data", map[string]any{"data": encoded(d), "metadata": d.Metadata, "transient": map[string]any{}})
	}))
	ExecCounter++
	values, types, err := evaluate(k.ir, OutErr{os.Stdout, os.Stderr}, a.Code, publish)
	if err != nil {
		return map[string]any{"status": "error", "ename": "ERROR", "evalue": err.Error(), "traceback": []string{err.Error()}}
	}
	if d := k.rendered(values, types); len(d.Data) > 0 {
		if err := publish("execute_result", map[string]any{"execution_count": ExecCounter, "data": encoded(d), "metadata": d.Metadata}); err != nil {
			return map[string]any{"status": "error", "ename": "ERROR", "evalue": err.Error(), "traceback": []string{}}
		}
	}
	return map[string]any{"status": "ok"}
}
