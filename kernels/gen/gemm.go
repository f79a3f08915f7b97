package main

func emitGemm() {}
