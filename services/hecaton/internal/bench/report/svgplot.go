package report

import (
	"fmt"
	"strings"
	"time"
)

// fault shades the time of one.
func (p *picture) fault(i int, f Fault) {
	shade := func(class string, from, to Seconds) {
		a, b := p.x(time.Duration(from)), p.x(time.Duration(to))
		p.printf(`<rect x="%.1f" y="%d" width="%.1f" height="%d" class="%s"><title>%s</title></rect>`+"\n",
			a, svgTop, max(b-a, 1), rateBottom-svgTop, class, escape(f.Name))
	}
	shade("fault", f.From, f.To)
	from, to := f.From, f.To
	for _, m := range f.Marks {
		switch m.Name {
		case "do":
			from = m.At
		case "settle":
			to = m.At
		}
	}
	shade("held", from, to)
	p.printf(`<text x="%.1f" y="%d">%s</text>`+"\n", p.x(time.Duration(f.From))+3, svgTop+14, label(i))
}

// grid draws the frame, the decades and the times.
func (p *picture) grid() {
	for _, d := range p.scale.decades() {
		y := p.y(d)
		p.printf(`<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" class="grid"/>`+"\n", svgLeft, y, svgWidth-svgRight, y)
		p.printf(`<text x="%d" y="%.1f" class="dim" text-anchor="end">%s</text>`+"\n", svgLeft-6, y+4, decade(d))
	}
	for _, box := range [][2]int{{svgTop, plotHeight}, {rateTop, rateHeight}} {
		p.printf(`<rect x="%d" y="%d" width="%d" height="%d" class="frame"/>`+"\n", svgLeft, box[0], plotWidth, box[1])
	}
	whole := time.Duration(len(p.cols)*p.per) * time.Second
	step := every(whole)
	for at := time.Duration(0); at <= whole; at += step {
		p.printf(`<text x="%.1f" y="%d" class="dim" text-anchor="middle">%s</text>`+"\n", p.x(at), rateBottom+18, at)
		if whole == 0 {
			break
		}
	}
}

// every is the distance of times that leaves room for them.
func every(whole time.Duration) time.Duration {
	for _, step := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute} {
		if whole/step <= 12 {
			return step
		}
	}
	return (whole / 12).Round(10 * time.Minute)
}

// series draws one line; where no call began it is interrupted.
func (p *picture) series(class string, value func(column) time.Duration) {
	var points []string
	flush := func() {
		switch len(points) {
		case 0:
		case 1: // a line of one point would not be seen
			points = append(points, points[0])
			fallthrough
		default:
			p.printf(`<polyline points="%s" class="line %s" stroke-linecap="round"/>`+"\n", strings.Join(points, " "), class)
		}
		points = nil
	}
	for i, c := range p.cols {
		if !c.any {
			flush()
			continue
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", p.center(i), p.y(value(c))))
	}
	flush()
}

// rates draws answers a second as an area, and refusals and unknown outcomes as bars on top of it. Every bar is high enough
// to be visible.
func (p *picture) rates() {
	most := p.most
	for _, c := range p.cols {
		most = max(most, c.refused+c.unknown)
	}
	if most == 0 {
		return
	}
	points := []string{fmt.Sprintf("%d,%d", svgLeft, rateBottom)}
	for i, c := range p.cols {
		points = append(points, fmt.Sprintf("%.1f,%.1f", p.center(i), rateBottom-c.answered/most*rateHeight))
	}
	points = append(points, fmt.Sprintf("%d,%d", svgWidth-svgRight, rateBottom))
	p.printf(`<polygon points="%s" class="rate"/>`+"\n", strings.Join(points, " "))
	width := max(plotWidth/float64(len(p.cols)), 1)
	for i, c := range p.cols {
		bottom := float64(rateBottom)
		for _, s := range []struct {
			class string
			v     float64
		}{{"unknown", c.unknown}, {"refused", c.refused}} {
			if s.v > 0 {
				h := max(s.v/most*rateHeight, 2)
				bottom -= h
				p.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"/>`+"\n", p.center(i)-width/2, bottom, width, h, s.class)
			}
		}
	}
	p.printf(`<text x="%d" y="%d" class="dim" text-anchor="end">%.0f/s</text>`+"\n", svgLeft-6, rateTop+10, most)
}
