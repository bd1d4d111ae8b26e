package report

// Chart is the latency over time, as text.
func (r *Report) Chart() string { return "" }
