package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// keptToken is a token as the gateway shows it.
type keptToken struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Scopes  []string  `json:"scopes"`
	Nodes   []string  `json:"nodes"`
	Expires time.Time `json:"expires_at"`
}

// asking is how long the JWT is good with which a token is asked for.
const asking = time.Minute

// gateway speaks for the user: by a token of its own, or one minted with the gateways' key, or by name in trusted mode.
func (c tokenConfig) gateway() (restClient, error) {
	client := restClient{server: c.Server, user: c.User, token: c.Token}
	if c.Token == "" && c.Secret != "" {
		token, err := c.mint(asking)
		if err != nil {
			return client, err
		}
		client.token = config.Secret(token)
	}
	return client, nil
}

// ask sends a request about tokens, and reads the answer into out.
func (c tokenConfig) ask(ctx context.Context, method, path string, body, out any) error {
	client, err := c.gateway()
	if err != nil {
		return err
	}
	var raw []byte
	if body != nil {
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	if raw, err = client.do(ctx, method, path, raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("the answer of %s is not JSON: %w", c.Server, err)
	}
	return nil
}

const tokensPath = "/api/tokens"

func (c tokenConfig) create(ctx context.Context, e Env) error {
	var made struct {
		Token  keptToken `json:"token"`
		Secret string    `json:"secret"`
	}
	err := c.ask(ctx, http.MethodPost, tokensPath, map[string]any{
		"name": c.Name, "scopes": c.Scopes, "nodes": c.Nodes, "expires_in": int64(c.Expires.Seconds()),
	}, &made)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Stderr, "token %s, until %s; it is shown this once. \"hecaton token revoke %s\" ends it.\n",
		printable(made.Token.ID), made.Token.Expires.Local().Format(time.RFC3339), printable(made.Token.ID))
	_, err = fmt.Fprintln(e.Stdout, made.Secret)
	return err
}

func (c tokenConfig) list(ctx context.Context, e Env) error {
	var got struct {
		Tokens []keptToken `json:"tokens"`
	}
	if err := c.ask(ctx, http.MethodGet, tokensPath, nil, &got); err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tSCOPES\tNODES\tUNTIL")
	for _, t := range got.Tokens {
		nodes := "all"
		if len(t.Nodes) > 0 {
			nodes = strings.Join(t.Nodes, ",")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", printable(t.ID), printable(t.Name), printable(strings.Join(t.Scopes, ",")), printable(nodes),
			t.Expires.Local().Format(time.RFC3339))
	}
	return w.Flush()
}

func (c tokenConfig) revoke(ctx context.Context, e Env, id string) error {
	var done struct {
		Success bool `json:"success"`
	}
	if err := c.ask(ctx, http.MethodDelete, tokensPath+"/"+url.PathEscape(id), nil, &done); err != nil {
		return err
	}
	_, err := fmt.Fprintln(e.Stdout, "revoked")
	return err
}
