// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import "html/template"

// pageStyle is the style sheet of reports: one column, thin rules, aligned numbers. Tables that are wider than the column
// extend to the right edge of the window. Figures scroll sideways on a phone; sections stay together on paper.
const pageStyle = `
:root { color-scheme: light; --ink: #262b33; --soft: #6b727d; --rule: #dfe2e6; --accent: #0072b2; --good: #00795a; --bad: #b34400 }
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth }
body { margin: 0; background: #fff; color: var(--ink); font: 16px/1.55 "Euryale Sans", "Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif }
main { max-width: 55rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem }
header { border-bottom: 2px solid var(--ink); padding-bottom: 1.25rem }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.01em; margin: 0 }
header > p { margin: .6rem 0 0; color: var(--soft); max-width: 44rem }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .9rem 1.5rem; margin: 1.4rem 0 0 }
dl .long { grid-column: 1 / -1 } .long dd { font-size: 1rem; font-weight: 500 }
dt { color: var(--soft); font-size: .8rem }
dd { margin: 0; font-size: 1.05rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.good { color: var(--good) } .bad { color: var(--bad) }
dd.good::before { content: "✓ " } dd.bad::before { content: "✗ " }
nav { font-size: .9rem; margin-top: 1rem; display: flex; flex-wrap: wrap; gap: .3rem 1.4rem }
a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
section { margin-top: 2.6rem }
h2 { font-size: 1.25rem; margin: 0 0 .7rem }
section > p, section > ul { max-width: 44rem; margin: 0 0 1rem }
ul { padding-left: 1.2rem }
.figures { display: flex; flex-wrap: wrap; gap: 1.5rem 2rem }
figure { margin: .6rem 0; flex: 1 1 24rem; min-width: 0 }
figure.wide { flex-basis: 100% }
figure > div { overflow-x: auto }
.figure { display: block }
figure.wide .figure { max-width: 100% !important }
figcaption { font-size: .85rem; color: var(--soft); margin-top: .35rem; max-width: 44rem }
figcaption b { color: var(--ink) }
.table { overflow-x: auto; margin: 0 min(0px, calc((52rem - 100vw) / 2 + 1.5rem)) 1.2rem 0 }
.table > :not(table) { max-width: 52rem }
.table p { color: var(--soft); font-size: .9rem; margin: .5rem 0 0 }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; white-space: nowrap }
th, td { padding: .32rem 0 .32rem 1.1rem; text-align: right; border-bottom: 1px solid var(--rule) }
th { color: var(--soft); font-weight: 400; border-bottom: 1px solid var(--ink) }
th:first-child, td:first-child { text-align: left; padding-left: 0 }
td:first-child { font-weight: 600 }
.text { white-space: normal; text-align: left; min-width: 12rem; max-width: 28rem; overflow-wrap: anywhere }
footer { margin-top: 3.5rem; padding-top: .8rem; border-top: 1px solid var(--rule); color: var(--soft); font-size: .8rem }
@media (max-width: 40rem) {
  main { padding: 1.25rem 1rem 2.5rem }
  h1 { font-size: 1.5rem }
  dl { grid-template-columns: 1fr 1fr }
  figure { flex-basis: 100% }
  figure.wide .figure { min-width: 34rem }
}
.cursor { display: block; min-height: 1.4em; font-variant-numeric: tabular-nums } svg.figure { touch-action: pan-y } svg.figure:focus-visible { outline: 2px solid var(--accent) }
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --ink: #e6e8eb; --soft: #a3abb6; --rule: #3a4049; --accent: #6cb8ea; --good: #5fcfa8; --bad: #ff9d66 }
  body { background: #1a1d22 } img.figure { background: #fff; border-radius: 3px }
}
@media print {
  .cursor { display: none }
  @page { margin: 16mm }
  body { font-size: 10.5pt }
  main { max-width: none; padding: 0 }
  nav { display: none }
  figure, dl, h2, tr { break-inside: avoid } h2, section > p:not(:last-child) { break-after: avoid }
  section > p, section > ul, figcaption { max-width: none }
  figure > div, .table { overflow: visible; margin-right: 0 }
  .figures { display: block }
  .figure { max-height: 105mm; margin: 0 auto } .tall .figure { max-height: 215mm }
  .many table { font-size: 7.4pt } .many th, .many td { padding-left: .5em; white-space: normal; overflow-wrap: anywhere } thead { display: table-header-group }
  footer { margin-top: 1rem }
}
`

var pageTemplate = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Euryale">
<title>{{.Title}}</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
<header>
<h1>{{.Title}}</h1>
{{- with .Summary}}
<p>{{.}}</p>{{end}}
{{- if .Facts}}
<dl>
{{- range .Facts}}
<div{{if .Long}} class="long"{{end}}><dt>{{.Name}}</dt><dd class="{{.Verdict.Class}}">{{.Value}}</dd></div>{{end}}
</dl>{{end}}
{{- if gt (len .Sections) 2}}
<nav>{{range .Sections}}{{if .Title}}<a href="#s{{.ID}}">{{.Title}}</a> {{end}}{{end}}</nav>{{end}}
</header>
{{- range .Sections}}
<section id="s{{.ID}}">
{{- with .Title}}
<h2>{{.}}</h2>{{end}}
{{- range .Text}}
{{- with .Text}}
<p>{{.}}</p>{{end}}
{{- if .Items}}
<ul>{{range .Items}}<li>{{.}}</li>{{end}}</ul>{{end}}{{end}}
{{- range .Tables}}
<div class="table{{if .Many}} many{{end}}">{{.HTML}}</div>{{end}}
{{- if .Figures}}
<div class="figures">
{{- range .Figures}}
<figure class="{{if .Wide}}wide{{end}}{{if .Tall}} tall{{end}}" data-frames="{{.Frames}}">
<div>{{.Picture}}</div>
<figcaption><b>Figure {{.Number}}.</b> {{with .Title}}{{.}}. {{end}}{{.Note}}<span class="cursor"></span></figcaption>
</figure>{{end}}
</div>{{end}}
</section>{{end}}
<footer>Made with Euryale. <code>euryale view FOLDER</code>, with the folder of this page, opens it to zoom, compare and save.</footer>
</main>
<script>{{.Script}}</script>
</body>
</html>
`))
