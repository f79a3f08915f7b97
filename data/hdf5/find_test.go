// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		for key, w := range map[string]float64{"/links/soft": 3, "/links/hard": 3, "links/relative": 7, "/links/root/links/./root/target": 3,
			"/far/data": 42, "/far/group/y": 42} {
			v, err := get(t, f, key).Float64s()
			if err != nil || v[len(v)-1] != w {
				t.Errorf("%s: %v, %v", key, v, err)
			}
		}
		for key, w := range map[string]string{"/links/dangling": "there is no /nowhere", "/links/loop": "more than 32 links",
			"/far/missing": "is an external link to absent.h5:/x, and absent.h5 is not in", "/links/sot": "nearest are /links/soft",
			"/target/x": "is not a group"} {
			_, err := f.Dataset(key)
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", key, err, w)
			}
		}
		if _, err := f.Dataset("/far/missing"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if f.Has("/far/group/loop") || !f.Has("/far/group/y") {
			t.Error("external group")
		}
	})
}

func TestManyLinksAndAttributes(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		all, err := f.Links("/many")
		if err != nil || len(all) < 60 {
			t.Fatal(len(all), err)
		}
		for i, l := range all {
			if l.Name != fmt.Sprintf("child%04d", i) || i%2 == 1 && l.Path != fmt.Sprintf("/number/%d", i) {
				t.Fatalf("link %d is %+v", i, l)
			}
		}
		attrs, err := f.Attrs("/attributes")
		if err != nil || len(attrs) < 12 {
			t.Fatal(len(attrs), err)
		}
		for i, a := range attrs {
			if v, err := a.Int64(); err != nil || v != int64(i) {
				t.Fatal(a.Name, v, err)
			}
		}
	})
}

func TestAttributes(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		attr := func(name string) *Attribute {
			a, err := f.Attr("/attributes2", name)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		s, err := attr("text").Text()
		want(t, s, err, "Å⁻¹")
		list, err := attr("list").Float64s()
		want(t, list, err, []float64{1, 2, 3})
		names, err := attr("names").Strings()
		want(t, names, err, []string{"a", "bc"})
		fixed, err := attr("fixed").Text()
		want(t, fixed, err, "fix")
		b, err := attr("bool").Bools()
		want(t, b, err, []bool{true})
		if a, err := f.Attr("/attributes2", "large"); err == nil {
			v, err := a.Float64s()
			if err != nil || len(v) != 9000 || v[8999] != 8999 {
				t.Error(len(v), err)
			}
		}
		if attr("empty").Len() != 0 {
			t.Error("empty attribute has elements")
		}
		if _, err := f.Attr("/attributes2", "txt"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "/attributes2@txt: nearest are text") {
			t.Error(err)
		}
		lists, err := f.Attr("/scales/data", "DIMENSION_LIST")
		if err != nil {
			t.Fatal(err)
		}
		refs, err := lists.ReferenceLists()
		if err != nil || len(refs) != 2 || len(refs[0]) != 1 || refs[0][0].Path != "/scales/x" {
			t.Error(refs, err)
		}
	})
}

func TestWalk(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		var paths []string
		err := f.Walk(func(p string, group bool) error {
			paths = append(paths, p)
			return nil
		})
		if err != nil || !slices.Contains(paths, "/links/sub/x") || slices.Contains(paths, "/links/root") {
			t.Error(err, len(paths))
		}
	})
}

func TestGroup(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		g, err := f.Group("links")
		if err != nil || g.Path() != "/links" || !g.Has("sub/x") || g.Has("nothing") {
			t.Fatal(g, err)
		}
		keys, err := g.Keys()
		want(t, keys, err, []string{"dangling", "hard", "loop", "relative", "root", "soft", "sub"})
		sub, err := g.Group("sub")
		if err != nil {
			t.Fatal(err)
		}
		x, err := sub.Dataset("x")
		if err != nil || x.Path() != "/links/sub/x" {
			t.Fatal(x, err)
		}
		v, err := x.Int32s()
		want(t, v, err, []int32{7})
		a, err := f.Group("/attributes2")
		if err != nil {
			t.Fatal(err)
		}
		text, err := a.Attr("text")
		if err != nil || text.Name != "text" || text.Path() != "/attributes2@text" {
			t.Error(text, err)
		}
		if all, err := a.Attrs(); err != nil || len(all) < 6 {
			t.Error(len(all), err)
		}
		if _, err := f.Group("/target"); !errors.Is(err, ErrType) {
			t.Error(err)
		}
		want(t, get(t, f, "/layout/grow").Chunks(), nil, []int{4, 5})
		want(t, get(t, f, "/layout/contiguous").Chunks(), nil, []int(nil))
	})
}
