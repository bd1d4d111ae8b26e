// Package observe checks what the cluster reports about itself: metrics follow the conventions and have what dashboards and
// alerts use, the spans of one run form one trace, and neither contains what users wrote.
package observe
