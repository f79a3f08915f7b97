// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Limits of a sheet of Excel.
const (
	mostRows    = 1 << 20
	mostColumns = 1 << 14
	mostText    = 32767 // UTF-16 units of a cell
)

// workbook lists the parts of a workbook of one sheet, except for the sheet; %s is the name of the sheet. Style 1 is bold.
var workbook = []struct{ name, text string }{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="%s" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/styles.xml", `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf xfId="0"/><xf xfId="0" fontId="1" applyFont="1"/></cellXfs></styleSheet>`},
}

// The sheet begins with a view in which the first row stays.
const (
	sheetBegin = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`
	sheetEnd   = `</sheetData></worksheet>`
)

// writeXLSX writes one sheet. Its first row, with the headers, stays in view.
func writeXLSX(w io.Writer, t *Table, rows int) error {
	sheet := cmp.Or(t.Name, "results")
	switch {
	case rows+1 > mostRows || len(t.Columns) > mostColumns:
		return fmt.Errorf("table: a sheet of Excel has %d rows and %d columns at most and this table %d and %d: write .csv or .parquet", mostRows, mostColumns, rows+1, len(t.Columns))
	case len([]rune(sheet)) > 31 || strings.ContainsAny(sheet, `:\/?*[]`):
		return fmt.Errorf(`table: Excel takes no sheet called %q: want at most 31 characters and none of : \ / ? * [ ]`, sheet)
	}
	out := zip.NewWriter(w)
	for _, p := range workbook {
		if err := part(out, p.name, func(b *bufio.Writer) { b.WriteString(strings.Replace(p.text, "%s", escaped(sheet), 1)) }); err != nil {
			return err
		}
	}
	if err := part(out, "xl/worksheets/sheet1.xml", func(b *bufio.Writer) { t.sheet(b, rows) }); err != nil {
		return err
	}
	return out.Close()
}

// part writes a file of the workbook.
func part(out *zip.Writer, name string, write func(b *bufio.Writer)) error {
	f, err := out.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	b.WriteString(xml.Header)
	write(b)
	return b.Flush()
}

func (t *Table) sheet(b *bufio.Writer, rows int) {
	b.WriteString(sheetBegin)
	for i := range rows + 1 {
		fmt.Fprintf(b, `<row r="%d">`, i+1)
		for k := range t.Columns {
			at := letters(k) + strconv.Itoa(i+1)
			if i == 0 {
				textCell(b, at, ` s="1"`, t.Columns[k].Header())
			} else {
				t.Columns[k].cell(b, at, i-1)
			}
		}
		b.WriteString("</row>")
	}
	b.WriteString(sheetEnd)
}

// letters is the name of a column: A to Z, AA, AB and so on.
func letters(k int) string {
	if k < 26 {
		return string(rune('A' + k))
	}
	return letters(k/26-1) + letters(k%26)
}

// cell writes a cell at a place such as B7. Excel knows neither NaN, which is an empty cell, nor infinities, which are texts.
func (c *Column) cell(b *bufio.Writer, at string, i int) {
	switch v := c.Values.(type) {
	case []float64:
		if math.IsNaN(v[i]) {
			return
		}
		if math.IsInf(v[i], 0) {
			textCell(b, at, "", c.text(i))
			return
		}
		fmt.Fprintf(b, `<c r="%s"><v>%s</v></c>`, at, c.text(i))
	case []int64:
		fmt.Fprintf(b, `<c r="%s"><v>%d</v></c>`, at, v[i])
	case []bool:
		n := 0
		if v[i] {
			n = 1
		}
		fmt.Fprintf(b, `<c r="%s" t="b"><v>%d</v></c>`, at, n)
	default:
		textCell(b, at, "", c.text(i))
	}
}

func textCell(b *bufio.Writer, at, style, text string) {
	fmt.Fprintf(b, `<c r="%s"%s t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, at, style, escaped(shortened(text)))
}

// shortened is as much of a text as a cell holds.
func shortened(text string) string {
	units := 0
	for at, r := range text {
		if units++; r > 0xffff {
			units++
		}
		if units > mostText {
			return text[:at]
		}
	}
	return text
}

// code is what Excel takes for a character by its number.
var code = regexp.MustCompile(`_(x[0-9A-Fa-f]{4}_)`)

// escaped is a text within XML; characters that XML has not become U+FFFD.
func escaped(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(code.ReplaceAllString(text, "_x005F_$1")))
	return b.String()
}
