//go:build conformance

package conformance

// Why a scenario does not apply. docs/mcp.md has the same.
const (
	noPrompts     = "the suite's prompts would have to be the server's own: it has prompts with ?include=agent only, and they are those of the user's servers"
	noResources   = "the suite's resources would have to be the server's own, which are the user's files, with ?include=agent only"
	noCompletion  = "the server declares no completions"
	noLogging     = "the server declares no logging, which the newest revision deprecates"
	noSampling    = "the server asks nothing of clients' models"
	noQuestions   = "the suite's tools would have to ask; a device has no way to ask. What the server itself asks is tested in services/e2e/mcp"
	noMarks       = "marks x-mcp-header of devices are removed, so there is no such header to check"
	noPolling     = "streams have no event ids, so there is nothing to resume"
	notDeclarable = "no tool of a device needs a capability of the client"
)

// inapplicable are the scenarios, or checks of scenarios, that the front door does not pass, each with its reason.
var inapplicable = map[string]string{
	"completion-complete": noCompletion,

	"logging-set-level":       noLogging,
	"tools-call-with-logging": noLogging,

	"prompts-list":                                noPrompts,
	"prompts-get-simple":                          noPrompts,
	"prompts-get-with-args":                       noPrompts,
	"prompts-get-embedded-resource":               noPrompts,
	"prompts-get-with-image":                      noPrompts,
	"caching/sep-2549-prompts-list-caching-hints": noPrompts,

	"resources-list":                                          noResources,
	"resources-read-text":                                     noResources,
	"resources-read-binary":                                   noResources,
	"resources-templates-read":                                noResources,
	"resources-subscribe":                                     noResources,
	"resources-unsubscribe":                                   noResources,
	"caching/sep-2549-resources-list-caching-hints":           noResources,
	"caching/sep-2549-resources-templates-list-caching-hints": noResources,

	"tools-call-sampling":                           noSampling,
	"input-required-result-basic-sampling":          noSampling,
	"input-required-result-basic-list-roots":        noSampling,
	"input-required-result-capability-check":        noSampling,
	"tools-call-elicitation":                        noQuestions,
	"elicitation-sep1034-defaults":                  noQuestions,
	"elicitation-sep1330-enums":                     noQuestions,
	"input-required-result-basic-elicitation":       noQuestions,
	"input-required-result-multi-round":             noQuestions,
	"input-required-result-request-state":           noQuestions,
	"input-required-result-result-type":             noQuestions,
	"input-required-result-tampered-state":          noQuestions,
	"input-required-result-multiple-input-requests": noQuestions,
	"input-required-result-non-tool-request":        noPrompts,

	"http-custom-header-server-validation": noMarks,
	"server-sse-polling":                   noPolling,

	"server-stateless/sep-2575-server-rejects-undeclared-capability": notDeclarable,
	"server-stateless/sep-2575-missing-capability-http-400":          notDeclarable,
}
