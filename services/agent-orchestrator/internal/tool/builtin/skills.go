package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/skill"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Library has the skills of users (package skill). Errors are *errs.Error, or the context's.
type Library interface {
	Get(ctx context.Context, user ids.UserID, name string) (skill.Skill, string, error)
	ReadFile(ctx context.Context, user ids.UserID, name, path string) ([]byte, error)
}

// Nodes tells which nodes a user has connected (package toolclient).
type Nodes interface {
	ListNodes(ctx context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error)
}

// SkillSource has the tools load_skill and read_skill_file.
type SkillSource struct {
	library Library
	nodes   Nodes
}

// SkillOptions are what a SkillSource works with; all are required.
type SkillOptions struct {
	Library Library
	Nodes   Nodes
}

// NewSkills checks the options and returns a SkillSource.
func NewSkills(o SkillOptions) (*SkillSource, error) {
	if err := options.Require("builtin", map[string]bool{"Library": o.Library == nil, "Nodes": o.Nodes == nil}); err != nil {
		return nil, err
	}
	return &SkillSource{o.Library, o.Nodes}, nil
}

// Tools implements [tool.Source].
func (s *SkillSource) Tools(context.Context, tool.Scope) (tool.Listing, error) {
	return tool.Listing{Tools: s.tools()}, nil
}

func (s *SkillSource) tools() []tool.Tool {
	spec := func(name, description, parameters string) tool.Spec {
		return tool.Spec{
			Name: name, Description: description, Parameters: json.RawMessage(parameters),
			Layer: tool.Builtin, Category: tool.Skills, ReadOnly: true,
		}
	}
	const name = `"name":{"type":"string","description":"The skill's name, as it is listed"}`
	return []tool.Tool{
		function[skillArgs]{spec("load_skill",
			"Loads a skill that the user has installed: a text that tells how a kind of work is done. Load one before work that its description fits.",
			`{"type":"object","required":["name"],"properties":{`+name+`}}`), s.load},
		function[skillFileArgs]{spec("read_skill_file",
			"Reads text from a file of a skill, such as references/checklist.md.",
			`{"type":"object","required":["name","path"],"properties":{`+name+`,"path":{"type":"string","description":"A path in the skill's folder"},`+
				`"offset":{"type":"integer","description":"The byte to begin with; 0 where it is left out"}}}`), s.read},
	}
}

type skillArgs struct {
	Name string `json:"name"`
}

func (s *SkillSource) load(ctx context.Context, in tool.Invocation, args skillArgs) (tool.Result, error) {
	k, body, err := s.library.Get(ctx, in.User, args.Name)
	if err != nil {
		return refused(ctx, err)
	}
	if why := s.unfit(ctx, in.User, &k); why != "" {
		return wrong("%s", why), nil
	}
	text := skill.Whole(&k, body, maxRead)
	return tool.Result{Text: text, Skill: k.Name}, nil
}

// unfit says why a skill is not given to an agent; "" where it is.
func (s *SkillSource) unfit(ctx context.Context, user ids.UserID, k *skill.Skill) string {
	if !k.Enabled {
		return fmt.Sprintf("The skill %s is switched off by the user.", k.Name)
	}
	if k.Fits(nil) {
		return ""
	}
	list, err := s.nodes.ListNodes(ctx, &toolv1.ListNodesRequest{UserId: string(user)})
	if err != nil {
		return "Whether a device is connected for which this skill is cannot be found out just now; try again in a few seconds."
	}
	if !k.Fits(typesOf(list.GetNodes())) {
		return fmt.Sprintf("The skill %s is for a device of which none is connected.", k.Name)
	}
	return ""
}

func typesOf(nodes []*nodev1.Node) (types []string) {
	for _, n := range nodes {
		if n.GetIsConnected() {
			types = append(types, nodetype.Name(n.GetInfo().GetNodeType()))
		}
	}
	return types
}

type skillFileArgs struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Offset int    `json:"offset"`
}

func (s *SkillSource) read(ctx context.Context, in tool.Invocation, args skillFileArgs) (tool.Result, error) {
	if args.Offset < 0 {
		return tool.Result{}, invalid("arguments.offset is %d, it must be a number of bytes from 0", args.Offset)
	}
	k, _, err := s.library.Get(ctx, in.User, args.Name)
	if err != nil {
		return refused(ctx, err)
	}
	if why := s.unfit(ctx, in.User, &k); why != "" {
		return wrong("%s", why), nil
	}
	data, err := s.library.ReadFile(ctx, in.User, args.Name, args.Path)
	switch {
	case err != nil:
		return refused(ctx, err)
	case args.Offset > len(data):
		return wrong("%q has %d bytes, offset %d is behind its end", args.Path, len(data), args.Offset), nil
	}
	from, to := wholeRunes(data, args.Offset, min(args.Offset+defaultRead, len(data)))
	if part := data[from:to]; !utf8.Valid(part) {
		return wrong("%q is not text, and has %d bytes", args.Path, len(data)), nil
	}
	text := tool.CleanText(string(data[from:to]))
	switch {
	case len(data) == 0:
		text = "[the file is empty]"
	case to < len(data):
		text += fmt.Sprintf("\n[bytes %d to %d of %d; read on with offset %d]", from, to, len(data), to)
	}
	return tool.Result{Text: text}, nil
}
