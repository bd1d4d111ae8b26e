package oauth

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	githubRepo = `"owner":{"type":"string","description":"User or organisation"},"repo":{"type":"string","description":"Name of the repository"}`
	githubPage = `"page":{"type":"integer","description":"From 1; 30 entries each"}`
)

var githubActions = []action{
	reads("github_list_repositories", "Lists the repositories that the user can reach at GitHub, the last changed first.",
		`{`+githubPage+`}`, nil, githubListRepositories),
	reads("github_get_file", "Reads a file of a GitHub repository, or lists a folder.",
		`{`+githubRepo+`,"path":{"type":"string","description":"Path in the repository; empty for its root"},"ref":{"type":"string","description":"Branch, tag or commit; the default branch where it is left out"}}`,
		[]string{"owner", "repo", "path"}, githubGetFile),
	reads("github_search_issues", "Searches issues and pull requests at GitHub with GitHub's search syntax, e.g. \"repo:o/r is:open crash\".",
		`{"query":{"type":"string"},`+githubPage+`}`, []string{"query"}, githubSearchIssues),
	reads("github_list_issues", "Lists the issues of a GitHub repository, the newest first.",
		`{`+githubRepo+`,"state":{"type":"string","enum":["open","closed","all"]},`+githubPage+`}`, []string{"owner", "repo"}, githubListIssues),
	writes("github_create_issue", "Opens an issue in a GitHub repository.",
		`{`+githubRepo+`,"title":{"type":"string"},"body":{"type":"string","description":"Markdown"},"labels":{"type":"array","items":{"type":"string"}}}`,
		[]string{"owner", "repo", "title"}, githubCreateIssue),
	writes("github_comment", "Comments on an issue or pull request of a GitHub repository.",
		`{`+githubRepo+`,"number":{"type":"integer"},"body":{"type":"string","description":"Markdown"}}`,
		[]string{"owner", "repo", "number", "body"}, githubComment),
}

type githubIn struct {
	Owner  string   `json:"owner"`
	Repo   string   `json:"repo"`
	Path   string   `json:"path"`
	Ref    string   `json:"ref"`
	Query  string   `json:"query"`
	State  string   `json:"state"`
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Labels []string `json:"labels"`
	Number int      `json:"number"`
	Page   int      `json:"page"`
}

func (in githubIn) page() string { return strconv.Itoa(max(in.Page, 1)) }

func (in githubIn) in(rest ...string) (string, error) {
	return under("/repos", append([]string{in.Owner, in.Repo}, rest...)...)
}

type githubIssue struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	State   string `json:"state"`
	Body    string `json:"body,omitempty"`
	URL     string `json:"html_url"`
	Updated string `json:"updated_at"`
	User    struct {
		Login string `json:"login"`
	} `json:"user"`
}

func githubListRepositories(ctx context.Context, c *client, in githubIn) (tool.Result, error) {
	r, err := c.get(ctx, "/user/repos", query("sort", "updated", "per_page", "30", "page", in.page()))
	if err != nil {
		return tool.Result{}, err
	}
	var repos []struct {
		FullName    string `json:"full_name"`
		Description string `json:"description,omitempty"`
		Private     bool   `json:"private"`
		Branch      string `json:"default_branch"`
		Updated     string `json:"updated_at"`
		URL         string `json:"html_url"`
	}
	err = r.decode(&repos)
	return show(repos), err
}

func githubGetFile(ctx context.Context, c *client, in githubIn) (tool.Result, error) {
	var segments []string
	if p := strings.Trim(in.Path, "/"); p != "" {
		segments = strings.Split(p, "/")
	}
	address, err := in.in(append([]string{"contents"}, segments...)...)
	if err != nil {
		return tool.Result{}, err
	}
	r, err := c.do(ctx, request{
		method: http.MethodGet, path: address, query: query("ref", in.Ref),
		header: map[string]string{"Accept": "application/vnd.github.raw+json"},
	})
	if err != nil {
		return tool.Result{}, err
	}
	var folder []struct {
		Type string `json:"type"`
		Path string `json:"path"`
		Size int    `json:"size"`
	}
	if strings.HasPrefix(r.contentType, "application/json") && r.decode(&folder) == nil {
		return show(folder), nil
	}
	return file(in.Path, r), nil
}

func githubSearchIssues(ctx context.Context, c *client, in githubIn) (tool.Result, error) {
	r, err := c.get(ctx, "/search/issues", query("q", in.Query, "per_page", "30", "page", in.page()))
	if err != nil {
		return tool.Result{}, err
	}
	var found struct {
		Total int           `json:"total_count"`
		Items []githubIssue `json:"items"`
	}
	err = r.decode(&found)
	return show(found), err
}

func githubListIssues(ctx context.Context, c *client, in githubIn) (tool.Result, error) {
	address, err := in.in("issues")
	if err != nil {
		return tool.Result{}, err
	}
	r, err := c.get(ctx, address, query("state", in.State, "per_page", "30", "page", in.page()))
	if err != nil {
		return tool.Result{}, err
	}
	var issues []githubIssue
	err = r.decode(&issues)
	return show(issues), err
}

func githubCreateIssue(ctx context.Context, c *client, in githubIn) (tool.Result, error) {
	address, err := in.in("issues")
	if err != nil {
		return tool.Result{}, err
	}
	r, err := c.send(ctx, http.MethodPost, address, struct {
		Title  string   `json:"title"`
		Body   string   `json:"body,omitempty"`
		Labels []string `json:"labels,omitempty"`
	}{in.Title, in.Body, in.Labels})
	if err != nil {
		return tool.Result{}, err
	}
	var issue githubIssue
	err = r.decode(&issue)
	return show(issue), err
}

func githubComment(ctx context.Context, c *client, in githubIn) (tool.Result, error) {
	address, err := in.in("issues", strconv.Itoa(in.Number), "comments")
	if err != nil {
		return tool.Result{}, err
	}
	r, err := c.send(ctx, http.MethodPost, address, map[string]string{"body": in.Body})
	if err != nil {
		return tool.Result{}, err
	}
	var comment struct {
		ID  int64  `json:"id"`
		URL string `json:"html_url"`
	}
	err = r.decode(&comment)
	return show(comment), err
}
