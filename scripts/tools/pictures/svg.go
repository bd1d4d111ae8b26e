package main

import (
	"fmt"
	"html"
	"strings"
)

// style has one colour for each role. The card behind everything is opaque, so that a picture is legible also where the
// page around it is not in the mode that the browser asks for.
const style = `<style>
text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
.mono { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
.small { font-size: 12px }
.bold { font-weight: 600 }
.muted { fill: #59636e }
.middle { text-anchor: middle }
.end { text-anchor: end }
.card { fill: #ffffff; stroke: #d1d9e0 }
.box { fill: #f6f8fa; stroke: #8c959f }
.mark { fill: #ddf4ff; stroke: #0969da }
.line { stroke: #8c959f; fill: none; stroke-width: 1.5 }
.path { stroke: #0969da; fill: none; stroke-width: 2.5 }
.head { fill: #0969da }
.tip { fill: #8c959f }
.number { fill: #ffffff; font-weight: 600; font-size: 12px }
.bar1 { fill: #0969da } .bar2 { fill: #8250df } .bar3 { fill: #bf8700 }
.command { fill: #0969da; font-weight: 600 }
.good { fill: #1a7f37 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.muted { fill: #9198a1 }
.card { fill: #0d1117; stroke: #3d444d }
.box { fill: #151b23; stroke: #656c76 }
.mark { fill: #121d2f; stroke: #4493f8 }
.line { stroke: #656c76 }
.path { stroke: #4493f8 }
.head { fill: #4493f8 }
.tip { fill: #656c76 }
.number { fill: #0d1117 }
.bar1 { fill: #4493f8 } .bar2 { fill: #ab7df8 } .bar3 { fill: #d29922 }
.command { fill: #4493f8 }
.good { fill: #3fb950 }
}
</style>
`

// canvas gathers the elements of one picture.
type canvas struct{ strings.Builder }

// newCanvas begins a picture of a size in pixels. label says what it shows to those who do not see it.
func newCanvas(width, height int, label string) *canvas {
	c := &canvas{}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, html.EscapeString(label))
	c.WriteString(style)
	c.rect("card", 1, 1, width-2, height-2)
	return c
}

// end returns the whole picture.
func (c *canvas) end() string { return c.String() + "</svg>\n" }

func (c *canvas) rect(class string, x, y, width, height int) {
	fmt.Fprintf(c, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+"\n", class, x, y, width, height)
}

// bar is a rectangle that stands on its lower edge.
func (c *canvas) bar(class string, x, bottom, width, height int) {
	fmt.Fprintf(c, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`+"\n", class, x, bottom-height, width, height)
}

func (c *canvas) text(class string, x, y int, text string) {
	fmt.Fprintf(c, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, html.EscapeString(text))
}

func (c *canvas) line(class string, x1, y1, x2, y2 int) {
	fmt.Fprintf(c, `<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", class, x1, y1, x2, y2)
}

// arrow is a horizontal or vertical line with a head at its end.
func (c *canvas) arrow(class, head string, x1, y1, x2, y2 int) {
	dx, dy := sign(x2-x1), sign(y2-y1)
	c.line(class, x1, y1, x2-8*dx, y2-8*dy)
	fmt.Fprintf(c, `<path class="%s" d="M%d %d L%d %d L%d %d z"/>`+"\n", head,
		x2, y2, x2-10*dx-5*dy, y2-10*dy-5*dx, x2-10*dx+5*dy, y2-10*dy+5*dx)
}

// step is a number in a circle.
func (c *canvas) step(n, x, y int) {
	fmt.Fprintf(c, `<circle class="head" cx="%d" cy="%d" r="10"/>`+"\n", x, y)
	fmt.Fprintf(c, `<text class="number middle" x="%d" y="%d">%d</text>`+"\n", x, y+4, n)
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
