package oauth

import (
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// Providers (docs/protocols/zeus-agents.md#tools-of-a-request).
const (
	GitHub      = "github"
	Gmail       = "gmail"
	GoogleDrive = "google_drive"
	Slack       = "slack"
	Notion      = "notion"
)

// Credentials identify this installation to a provider (docs/protocols/zeus-agents.md#oauth).
type Credentials struct {
	ClientID     string        `conf:"client-id" env:"CLIENT_ID" help:"client id of the OAuth application"`
	ClientSecret config.Secret `conf:"client-secret" env:"CLIENT_SECRET" help:"its secret"`
}

// Config says where the providers are. The addresses are the operator's, so they may be anything that the pod reaches.
type Config struct {
	RedirectURIs []string `conf:"oauth-redirect-uris" env:"OAUTH_REDIRECT_URIS" help:"pages to which OAuth providers may send users back with a code, such as https://app.example.org/oauth; of a loopback address any port; none where empty"`

	GitHub struct {
		Credentials
		OAuthURL string `conf:"oauth-url" env:"OAUTH_URL" default:"https://github.com" help:"where users agree and codes are exchanged"`
		APIURL   string `conf:"api-url" env:"API_URL" default:"https://api.github.com" help:"where calls go"`
	} `conf:"github" env:"GITHUB_"`
	Google struct {
		Credentials
		AuthURL  string `conf:"auth-url" env:"AUTH_URL" default:"https://accounts.google.com" help:"where users agree"`
		OAuthURL string `conf:"oauth-url" env:"OAUTH_URL" default:"https://oauth2.googleapis.com" help:"where codes are exchanged"`
		GmailURL string `conf:"gmail-url" env:"GMAIL_URL" default:"https://gmail.googleapis.com" help:"where calls of Gmail go"`
		DriveURL string `conf:"drive-url" env:"DRIVE_URL" default:"https://www.googleapis.com" help:"where calls of Google Drive go"`
	} `conf:"google" env:"GOOGLE_"`
	Slack struct {
		Credentials
		URL string `conf:"url" env:"URL" default:"https://slack.com" help:"where codes are exchanged and calls go"`
	} `conf:"slack" env:"SLACK_"`
	Notion struct {
		Credentials
		URL string `conf:"url" env:"URL" default:"https://api.notion.com" help:"where codes are exchanged and calls go"`
	} `conf:"notion" env:"NOTION_"`
}

// provider is one of the five.
type provider struct {
	name  string
	title string // for people
	creds Credentials
	env   string // prefix of its variables
	// tokenURL is where codes and refresh tokens are exchanged, api where calls go.
	tokenURL, api string
	// authURL is the page where users agree, scopes are the scopes if a request names none, ask are more parameters of authURL.
	authURL string
	scopes  []string
	ask     map[string]string
	// pkce says that the provider binds a code to a secret that only we know (RFC 7636).
	pkce bool
	// basic says that the exchange is JSON with the credentials in Authorization, not a form that holds them.
	basic bool
	// header is sent with every call beside the token.
	header map[string]string
}

// providers returns the five by name.
func (c Config) providers() map[string]*provider {
	join := func(base, path string) string { return strings.TrimSuffix(base, "/") + path }
	google := func(name, title, api string, scopes ...string) *provider {
		return &provider{
			name: name, title: title, creds: c.Google.Credentials, env: "GOOGLE_",
			authURL: join(c.Google.AuthURL, "/o/oauth2/v2/auth"), scopes: scopes, pkce: true,
			ask:      map[string]string{"access_type": "offline", "prompt": "consent"}, // a refresh token, each time
			tokenURL: join(c.Google.OAuthURL, "/token"), api: join(api, ""),
		}
	}
	notionVersion := map[string]string{"Notion-Version": "2022-06-28"}
	return map[string]*provider{
		GitHub: {
			name: GitHub, title: "GitHub", creds: c.GitHub.Credentials, env: "GITHUB_",
			authURL: join(c.GitHub.OAuthURL, "/login/oauth/authorize"), scopes: []string{"repo"}, pkce: true,
			tokenURL: join(c.GitHub.OAuthURL, "/login/oauth/access_token"), api: join(c.GitHub.APIURL, ""),
			header: map[string]string{"Accept": "application/vnd.github+json", "X-Github-Api-Version": "2022-11-28"},
		},
		Gmail:       google(Gmail, "Gmail", c.Google.GmailURL, "https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/gmail.compose"),
		GoogleDrive: google(GoogleDrive, "Google Drive", c.Google.DriveURL, "https://www.googleapis.com/auth/drive"),
		Slack: {
			name: Slack, title: "Slack", creds: c.Slack.Credentials, env: "SLACK_",
			authURL:  join(c.Slack.URL, "/oauth/v2/authorize"),
			scopes:   []string{"channels:read", "groups:read", "channels:history", "groups:history", "chat:write"},
			tokenURL: join(c.Slack.URL, "/api/oauth.v2.access"), api: join(c.Slack.URL, ""),
		},
		Notion: {
			name: Notion, title: "Notion", creds: c.Notion.Credentials, env: "NOTION_",
			authURL: join(c.Notion.URL, "/v1/oauth/authorize"), ask: map[string]string{"owner": "user"},
			tokenURL: join(c.Notion.URL, "/v1/oauth/token"), api: join(c.Notion.URL, ""), basic: true, header: notionVersion,
		},
	}
}

// CheckProvider refuses a name that is not one of the providers.
func CheckProvider(name string) error {
	switch name {
	case GitHub, Gmail, GoogleDrive, Slack, Notion:
		return nil
	}
	return errs.New(errs.InvalidArgument, "provider is %q, must be github, gmail, google_drive, slack or notion", name)
}
