package main

import "reflect"

var errorType = reflect.TypeFor[error]()
