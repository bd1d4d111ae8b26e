package oauth

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

var slackActions = []action{
	reads("slack_list_channels", "Lists the channels of the user's Slack workspace.",
		`{"cursor":{"type":"string","description":"next_cursor of the page before"}}`, nil, slackChannels),
	reads("slack_history", "Reads the last messages of a Slack channel, the newest first.",
		`{"channel":{"type":"string","description":"Id of the channel, as slack_list_channels tells it"},"limit":{"type":"integer","description":"At most 100; 30 where it is left out"},"cursor":{"type":"string"}}`,
		[]string{"channel"}, slackHistory),
	writes("slack_post_message", "Posts a message to a Slack channel.",
		`{"channel":{"type":"string"},"text":{"type":"string"},"thread_ts":{"type":"string","description":"ts of the message that it answers to"}}`,
		[]string{"channel", "text"}, slackPost),
}

// slackReply is what every answer of Slack has: errors come with status 200.
type slackReply struct {
	OK    bool   `json:"ok"`
	Error string `json:"error"`
	Meta  struct {
		Cursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

func (s *slackReply) head() *slackReply { return s }

// slackRead decodes an answer, and returns an error for one that reports an error.
func slackRead(r *reply, into interface{ head() *slackReply }) error {
	if err := r.decode(into); err != nil {
		return err
	}
	h := into.head()
	switch {
	case h.OK:
		return nil
	case h.Error == "token_expired", h.Error == "token_revoked", h.Error == "invalid_auth", h.Error == "account_inactive", h.Error == "not_authed":
		return &answerError{"The authorization at Slack is over or was taken back (" + h.Error + "). The user has to connect Slack again; do not try again before that."}
	}
	return &answerError{"Slack refused: " + cmp.Or(h.Error, "it does not say why")}
}

func slackChannels(ctx context.Context, c *client, in struct {
	Cursor string `json:"cursor"`
},
) (tool.Result, error) {
	r, err := c.get(ctx, "/api/conversations.list", query(
		"types", "public_channel,private_channel", "exclude_archived", "true", "limit", "200", "cursor", in.Cursor))
	if err != nil {
		return tool.Result{}, err
	}
	var got struct {
		slackReply
		Channels []struct {
			ID      string `json:"id"`
			Name    string `json:"name"`
			Private bool   `json:"is_private"`
			Member  bool   `json:"is_member"`
		} `json:"channels"`
	}
	if err := slackRead(r, &got); err != nil {
		return tool.Result{}, err
	}
	return show(map[string]any{"channels": got.Channels, "next_cursor": got.Meta.Cursor}), nil
}

func slackHistory(ctx context.Context, c *client, in struct {
	Channel string `json:"channel"`
	Limit   int    `json:"limit"`
	Cursor  string `json:"cursor"`
},
) (tool.Result, error) {
	r, err := c.get(ctx, "/api/conversations.history", query(
		"channel", in.Channel, "limit", strconv.Itoa(within(in.Limit, 30, 100)), "cursor", in.Cursor))
	if err != nil {
		return tool.Result{}, err
	}
	var got struct {
		slackReply
		Messages []struct {
			TS     string `json:"ts"`
			User   string `json:"user,omitempty"`
			Text   string `json:"text"`
			Thread string `json:"thread_ts,omitempty"`
		} `json:"messages"`
	}
	if err := slackRead(r, &got); err != nil {
		return tool.Result{}, err
	}
	return show(map[string]any{"messages": got.Messages, "next_cursor": got.Meta.Cursor}), nil
}

func slackPost(ctx context.Context, c *client, in struct {
	Channel string `json:"channel"`
	Text    string `json:"text"`
	Thread  string `json:"thread_ts,omitempty"`
},
) (tool.Result, error) {
	r, err := c.send(ctx, http.MethodPost, "/api/chat.postMessage", in)
	if err != nil {
		return tool.Result{}, err
	}
	var got struct {
		slackReply
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	}
	if err := slackRead(r, &got); err != nil {
		return tool.Result{}, err
	}
	return show(map[string]string{"channel": got.Channel, "ts": got.TS}), nil
}
