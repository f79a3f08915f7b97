// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package given finds the arguments that a caller left nil.
package given

import (
	"fmt"
	"reflect"
)

// Args checks arguments, each preceded by its name, and names the first one that is nil.
func Args(function string, named ...any) error {
	for i := 0; i+1 < len(named); i += 2 {
		if isNil(named[i+1]) {
			return fmt.Errorf("%s: the argument %s is nil", function, named[i])
		}
	}
	return nil
}

func isNil(v any) bool {
	switch x := reflect.ValueOf(v); x.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Interface:
		return x.IsNil()
	}
	return false
}
