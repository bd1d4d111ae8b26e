// Package sse reads server-sent events as the HTML standard defines them ("9.2.6 Interpreting an event stream"), with a
// bound on what one event may hold.
package sse
