// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

type emit = func(...operand.Op)

// fixed adapts avo's instructions of fixed arity.
func one(f func(a, b operand.Op)) emit      { return func(o ...operand.Op) { f(o[0], o[1]) } }
func three(f func(a, b, c operand.Op)) emit { return func(o ...operand.Op) { f(o[0], o[1], o[2]) } }
func four(f func(a, b, c, d operand.Op)) emit {
	return func(o ...operand.Op) { f(o[0], o[1], o[2], o[3]) }
}

// instructions lists the float64 and float32 form of each; ".b" is the form with an AVX-512 broadcast from memory.
var instructions = map[string][2]emit{
	"broadcast":   {VBROADCASTSD, VBROADCASTSS},
	"move":        {VMOVAPD, VMOVAPS},
	"loadu":       {VMOVUPD, VMOVUPS},
	"add":         {VADDPD, VADDPS},
	"sub":         {VSUBPD, VSUBPS},
	"mul":         {VMULPD, VMULPS},
	"div":         {VDIVPD, VDIVPS},
	"min":         {VMINPD, VMINPS},
	"max":         {VMAXPD, VMAXPS},
	"and":         {VANDPD, VANDPS},
	"or":          {VORPD, VORPS},
	"xor":         {VXORPD, VXORPS},
	"iadd":        {VPADDQ, VPADDD},
	"isub":        {VPSUBQ, VPSUBD},
	"shl":         {VPSLLQ, VPSLLD},
	"shr":         {VPSRLQ, VPSRLD},
	"sqrt":        {VSQRTPD, VSQRTPS},
	"fma213":      {VFMADD213PD, VFMADD213PS},
	"fma132":      {VFMADD132PD, VFMADD132PS},
	"fma231":      {VFMADD231PD, VFMADD231PS},
	"fnma213":     {VFNMADD213PD, VFNMADD213PS},
	"fnma132":     {VFNMADD132PD, VFNMADD132PS},
	"fnma231":     {VFNMADD231PD, VFNMADD231PS},
	"fmaddsub231": {VFMADDSUB231PD, VFMADDSUB231PS},
	"fmsubadd231": {VFMSUBADD231PD, VFMSUBADD231PS},
	"unpacklo":    {VUNPCKLPD, VUNPCKLPS},
	"unpackhi":    {VUNPCKHPD, VUNPCKHPS},
	"fms213":      {VFMSUB213PD, VFMSUB213PS},
	"fms132":      {VFMSUB132PD, VFMSUB132PS},
	"cmp":         {VCMPPD, VCMPPS},
	"blend":       {four(VBLENDVPD), four(VBLENDVPS)},
	"round":       {three(VROUNDPD), three(VROUNDPS)},
	"maskload":    {three(VMASKMOVPD), three(VMASKMOVPS)},

	"blend512": {VBLENDMPD, VBLENDMPS},
	"round512": {VRNDSCALEPD, VRNDSCALEPS},
	"permute2": {VPERMI2PD, VPERMI2PS},
	"compress": {three(VCOMPRESSPD_Z), three(VCOMPRESSPS_Z)},
	"loadz":    {three(VMOVUPD_Z), three(VMOVUPS_Z)},
	"scalef":   {VSCALEFPD, VSCALEFPS},
	"getexp":   {VGETEXPPD, VGETEXPPS},
	"getmant":  {VGETMANTPD, VGETMANTPS},
	"range":    {VRANGEPD, VRANGEPS},
	"fixup":    {VFIXUPIMMPD, VFIXUPIMMPS},
	"fixup.b":  {VFIXUPIMMPD_BCST, VFIXUPIMMPS_BCST},

	"add.b":      {VADDPD_BCST, VADDPS_BCST},
	"sub.b":      {VSUBPD_BCST, VSUBPS_BCST},
	"mul.b":      {VMULPD_BCST, VMULPS_BCST},
	"div.b":      {VDIVPD_BCST, VDIVPS_BCST},
	"min.b":      {VMINPD_BCST, VMINPS_BCST},
	"max.b":      {VMAXPD_BCST, VMAXPS_BCST},
	"and.b":      {VANDPD_BCST, VANDPS_BCST},
	"or.b":       {VORPD_BCST, VORPS_BCST},
	"xor.b":      {VXORPD_BCST, VXORPS_BCST},
	"iadd.b":     {VPADDQ_BCST, VPADDD_BCST},
	"isub.b":     {VPSUBQ_BCST, VPSUBD_BCST},
	"fma213.b":   {VFMADD213PD_BCST, VFMADD213PS_BCST},
	"fma132.b":   {VFMADD132PD_BCST, VFMADD132PS_BCST},
	"fnma213.b":  {VFNMADD213PD_BCST, VFNMADD213PS_BCST},
	"fnma132.b":  {VFNMADD132PD_BCST, VFNMADD132PS_BCST},
	"fms213.b":   {VFMSUB213PD_BCST, VFMSUB213PS_BCST},
	"fms132.b":   {VFMSUB132PD_BCST, VFMSUB132PS_BCST},
	"cmp.b":      {VCMPPD_BCST, VCMPPS_BCST},
	"blend512.b": {VBLENDMPD_BCST, VBLENDMPS_BCST},
}
