package report

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// The places of an SVG chart, in its own units.
const (
	svgWidth, svgTop, svgLeft, svgRight = 960, 56, 64, 16
	plotHeight, rateHeight, gap         = 260, 80, 28
	svgColumns                          = 900 // at most: one for each unit of width, nearly
)

// style makes the chart readable on a light and on a dark ground, whichever it is shown on.
const style = `
  svg { font: 12px system-ui, sans-serif; background: #ffffff; }
  text { fill: #1f2328; } .dim { fill: #59636e; } .grid { stroke: #d1d9e0; } .frame { fill: none; stroke: #818b98; }
  .line { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
  .p50 { stroke: #1a7f37; } .p99 { stroke: #0969da; } .max { stroke: #bc4c00; stroke-width: 1; }
  .rate { fill: #0969da; fill-opacity: .25; stroke: #0969da; } .refused { fill: #9a6700; } .unknown { fill: #d1242f; }
  .fault { fill: #d1242f; fill-opacity: .10; } .held { fill: #d1242f; fill-opacity: .10; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; } .dim { fill: #9198a1; } .grid { stroke: #2a313c; } .frame { stroke: #656c76; }
    .p50 { stroke: #3fb950; } .p99 { stroke: #58a6ff; } .max { stroke: #f0883e; } .rate { fill: #58a6ff; stroke: #58a6ff; }
    .refused { fill: #d29922; } .unknown { fill: #f85149; } .fault, .held { fill: #f85149; fill-opacity: .16; }
  }
`

// picture draws one chart.
type picture struct {
	strings.Builder
	cols  []column
	per   int
	scale scale
	most  float64 // answers a second
}

// SVG is the latency over time as a picture that needs nothing else: the worst p50, p99 and maximum of each column, on a
// logarithmic scale; below it answers a second, refusals and unknown outcomes; shaded, the times of faults, darker from the
// command that breaks something to the one that mends it.
func (r *Report) SVG() []byte {
	p := &picture{}
	p.cols, p.per = r.columns(svgColumns)
	p.scale = newScale(p.cols)
	for _, c := range p.cols {
		p.most = max(p.most, c.answered)
	}
	height := svgTop + plotHeight + gap + rateHeight + 44 + 18*len(r.Faults)
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title description">`+"\n", svgWidth, height)
	p.printf(`<title id="title">Latency of calls over time</title>` + "\n")
	p.printf(`<desc id="description">%s</desc>`+"\n", escape(r.describe()))
	p.printf("<style>%s</style>\n", style)
	p.legend(r)
	for i, f := range r.Faults {
		p.fault(i, f)
	}
	p.grid()
	p.series("max", func(c column) time.Duration { return c.max })
	p.series("p99", func(c column) time.Duration { return c.p99 })
	p.series("p50", func(c column) time.Duration { return c.p50 })
	p.rates()
	for i, f := range r.Faults {
		p.text(svgLeft, rateBottom+44+18*i, "", fmt.Sprintf("%s  %s: %s calls, %s refused attempts, %s unknown, worst %s", label(i), f.Name,
			number(f.Calls.Ended), number(sum(f.Calls.Refusals)), number(f.Calls.Unknown), duration(f.Calls.Latency["all"].Max)))
	}
	p.printf("</svg>\n")
	return []byte(p.String())
}

// describe is the chart for those who do not see it.
func (r *Report) describe() string {
	l := r.Calls.Latency["answered"]
	return fmt.Sprintf("%s calls in %s; answered ones took p50 %s, p99 %s, at most %s. %d faults.",
		number(r.Calls.Ended), duration(r.Took), duration(l.P50), duration(l.P99), duration(l.Max), len(r.Faults))
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}

func (p *picture) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

func (p *picture) text(x, y int, class, text string) {
	p.printf(`<text x="%d" y="%d" class="%s">%s</text>`+"\n", x, y, class, escape(text))
}

const (
	plotBottom = svgTop + plotHeight
	rateTop    = plotBottom + gap
	rateBottom = rateTop + rateHeight
	plotWidth  = svgWidth - svgLeft - svgRight
)

// x is where a time stands that is counted from the beginning.
func (p *picture) x(at time.Duration) float64 {
	whole := time.Duration(len(p.cols)*p.per) * time.Second
	if whole == 0 {
		return svgLeft
	}
	return svgLeft + min(max(at.Seconds()/whole.Seconds(), 0), 1)*plotWidth
}

// center is where the middle of a column stands.
func (p *picture) center(i int) float64 {
	return p.x(time.Duration((float64(i) + 0.5) * float64(p.per) * float64(time.Second)))
}

func (p *picture) y(d time.Duration) float64 { return plotBottom - p.scale.at(d)*plotHeight }

func (p *picture) legend(r *Report) {
	p.text(svgLeft, 20, "", fmt.Sprintf("Latency of %s calls, from when each was meant to begin", number(r.Calls.Ended)))
	x := svgLeft
	for _, s := range []struct{ class, text string }{{"p50", "p50"}, {"p99", "p99"}, {"max", "max"}} {
		p.printf(`<line x1="%d" y1="38" x2="%d" y2="38" class="line %s"/>`+"\n", x, x+20, s.class)
		p.text(x+26, 42, "dim", s.text)
		x += 80
	}
	for _, s := range []struct{ class, text string }{{"rate", "answers/s"}, {"refused", "not delivered"}, {"unknown", "unknown"}, {"held", "fault"}} {
		p.printf(`<rect x="%d" y="32" width="14" height="12" class="%s"/>`+"\n", x, s.class)
		p.text(x+20, 42, "dim", s.text)
		x += 116
	}
}
