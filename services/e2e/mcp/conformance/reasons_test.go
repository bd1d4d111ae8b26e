//go:build conformance

package conformance

// inapplicable are the scenarios, or checks of scenarios, that the front door does not pass, each with its reason.
var inapplicable = map[string]string{}
