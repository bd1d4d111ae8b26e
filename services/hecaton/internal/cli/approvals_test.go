package cli_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/cli"
)

const approvalsPath = "/api/agent/approval-settings"

// A user who chooses that nothing asks is told what that means; at a terminal they have to confirm it.
func TestApprovals(t *testing.T) {
	t.Parallel()
	now := step{method: "GET", path: approvalsPath, answer: `{"mode":"use_allowlist","allowlist":["list_tabs","read_file"],"allowed":[{"layer":"mcp"}]}`}
	set := func(mode string) step {
		return step{method: "PUT", path: approvalsPath, answer: `{}`, has: map[string]string{
			"mode": `"` + mode + `"`, "allowlist": `["list_tabs","read_file"]`, "allowed": `[{"layer":"mcp"}]`,
		}}
	}
	for name, tt := range map[string]struct {
		args        []string
		stdin       string
		interactive bool
		steps       []step
		code        int
		says        string
	}{
		"shown":              {nil, "", false, []step{now}, 0, "all else asks you first.\n\nOn the allow-list: list_tabs, read_file"},
		"chosen":             {[]string{"ask_everytime"}, "", true, []step{now, set("ask_everytime")}, 0, "every call"},
		"everything":         {[]string{"run_everything"}, "run_everything\n", true, []step{now, set("run_everything")}, 0, "NOTHING asks you"},
		"everything, or not": {[]string{"run_everything"}, "y\n", true, []step{now}, 0, "Nothing was changed"},
		"by a program":       {[]string{"run_everything"}, "", false, []step{now, set("run_everything")}, 0, "NOTHING asks you"},
		"waiting": {[]string{"waiting"}, "", false, []step{{
			method: "GET", path: "/api/approvals", answer: `{"approvals":[{"id":"appr-x","tool_name":"click","tool_args":"{}","args_cut":true,"node_id":"n1","why":"you are asked every time"}]}`,
		}}, 0, "appr-x  click {} …\n    on n1: you are asked every time"},
		"approved": {[]string{"approve", "appr-x"}, "", false, []step{{
			method: "POST", path: "/api/approvals/appr-x", answer: `{}`, has: map[string]string{"decision": `"approved"`},
		}}, 0, ""},
		"approved, but what": {[]string{"approve"}, "", false, nil, 2, ""},
		"unknown":            {[]string{"yolo"}, "", false, []step{now}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgentAPI(t, tt.steps...)
			p := startEnv(t, cli.Env{
				Stdin: strings.NewReader(tt.stdin), Interactive: tt.interactive,
				Args: append([]string{"approvals", "--server", a.server.URL, "--user", "ana"}, tt.args...),
			})
			if code := p.wait(); code != tt.code || !strings.Contains(p.out.String(), tt.says) {
				t.Errorf("%d %s%s", code, p.out.String(), p.err.String())
			}
		})
	}
}
