package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/chat"
)

const (
	// demoGoal is one that the offline model understands, too.
	demoGoal = "read the file hello.txt"
	// demoAnswer is how long the person at the terminal has to approve.
	demoAnswer = 10 * time.Second
)

// run gives an agent a goal through the last gateway, shows what it does, and says how to continue. Only the end of ctx is
// an error: the cluster stays usable if the model fails.
func (d *demo) run(ctx context.Context, e Env) error {
	input, standIn := chat.NewInput(strings.NewReader(""), false), &chat.StandIn{Approves: expected, Says: "there is no terminal to ask at: approved, since this is a demo"}
	rule := "asks before it runs"
	if e.Interactive {
		input.Close()
		input = chat.NewInput(e.Stdin, true)
		standIn = &chat.StandIn{Approves: expected, After: demoAnswer, Says: "nobody has answered: approved, since this is a demo"}
		rule += fmt.Sprintf("; after %v the demo approves this one call by itself", demoAnswer)
	}
	defer input.Close()
	asked := len(d.cluster.Gateways) - 1
	servers := []string{"http://" + d.cluster.Gateways[asked].HTTP}
	for _, g := range d.cluster.Gateways[:asked] {
		servers = append(servers, "http://"+g.HTTP)
	}
	fmt.Fprintf(e.Stdout, "\nA run of an agent\n\n  the goal     %s\n  is given     through gateway %d, by POST %s/api/agent/invoke\n  read_file    %s\n\n",
		demoGoal, asked, servers[0], rule)
	c, err := chat.New(chat.Options{
		Client: &chat.Client{Servers: servers, User: demoUser, Token: config.Secret(d.token)},
		Input:  input, Out: e.Stdout, Node: demoNode, StandIn: standIn, AskAbout: []string{"read_file"},
	})
	if err != nil {
		return err
	}
	began := time.Now()
	finish, err := c.Say(ctx, demoGoal)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		fmt.Fprintf(e.Stdout, "\nThe run failed: %s\n", chat.Safe(err.Error()))
	default:
		fmt.Fprintf(e.Stdout, "\nThe run ended with %q after %s.\n", chat.Safe(finish), time.Since(began).Round(time.Millisecond))
	}
	token := ""
	if d.token != "" {
		token = " (HECATON_TOKEN has a JWT of user " + demoUser + ")"
	}
	again := chatConfig{Server: servers, User: demoUser, Session: c.Session()}
	_, err = fmt.Fprintf(e.Stdout, "Go on with it%[1]s:\n\n  %[2]s\n\nAdd a document, and look something up in it:\n\n"+
		"  %[3]s kb --server %[4]s --user %[5]s add docs FILE\n  %[3]s kb --server %[4]s --user %[5]s search docs 'a question'\n",
		token, again.again(e.program()), e.program(), servers[0], demoUser)
	return err
}

// expected reports whether a call is the one that the demo is meant to show. Any other call, which a file that the model
// has read may have suggested, runs only if a person allows it.
func expected(p chat.Pending) bool {
	var args struct {
		Path string `json:"path"`
	}
	return p.Tool == "read_file" && p.Node == demoNode && json.Unmarshal(p.Args, &args) == nil && path.Clean(args.Path) == "hello.txt"
}
