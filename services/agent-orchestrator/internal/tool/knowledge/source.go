package knowledge

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Source has the tools of a run's knowledge bases.
type Source struct {
	service knowledgev1.KnowledgeServiceClient
}

// Options of a Source.
type Options struct {
	// Services is a connection to the knowledge services; required.
	Services grpc.ClientConnInterface
}

// New checks the options and returns a Source.
func New(o Options) (*Source, error) {
	if err := options.Require("knowledge", map[string]bool{"Services": o.Services == nil}); err != nil {
		return nil, err
	}
	return &Source{knowledgev1.NewKnowledgeServiceClient(o.Services)}, nil
}

// checkTime bounds the check of a request's bases.
const checkTime = 10 * time.Second

// Check fails with KNOWLEDGE_BASE_NOT_FOUND where one of the bases is not the user's, and with KNOWLEDGE_UNAVAILABLE where nobody can
// say.
func (s *Source) Check(ctx context.Context, user ids.UserID, bases []string) error {
	if len(bases) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(auth.OnBehalf(ctx, user), checkTime)
	defer cancel()
	_, err := s.service.CheckBases(ctx, &knowledgev1.CheckBasesRequest{Ids: bases})
	return reasoned(err)
}

// reasoned gives an error of the connection a reason.
func reasoned(err error) error {
	if err == nil {
		return nil
	}
	err = errs.FromGRPC(err)
	var own *errs.Error
	if errors.As(err, &own) {
		return err
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded:
		return &errs.Error{Reason: errs.KnowledgeUnavailable, Message: "the knowledge service cannot be reached right now: try again", Err: err}
	}
	return err
}

// Tools implements [tool.Source]: there are none without knowledge bases.
func (s *Source) Tools(_ context.Context, scope tool.Scope) (tool.Listing, error) {
	if len(scope.KnowledgeBases) == 0 {
		return tool.Listing{}, nil
	}
	bases := scope.KnowledgeBases
	return tool.Listing{Tools: []tool.Tool{
		function[searchArgs]{spec("search_knowledge_base",
			"Searches the user's documents, by meaning and by keywords, and returns passages with their file and page. Cite file and page in the answer.",
			`{"type":"object","required":["query"],"properties":{"query":{"type":"string","description":"What to look for, in the words of a question or as keywords"},`+
				`"knowledge_base_id":{"type":"string","description":"One of list_knowledge_bases; all of them where it is left out"},`+
				`"top_k":{"type":"integer","description":"How many passages, 5 where it is left out, at most 50"},`+
				`"vector_weight":{"type":"number","description":"Weight of meaning, 0 to 1; 0.6 where it is left out"},`+
				`"keyword_weight":{"type":"number","description":"Weight of keywords, 0 to 1; 0.4 where it is left out"},`+
				`"use_rerank":{"type":"boolean","description":"false searches by meaning alone"}}}`), s.search(bases)},
		function[struct{}]{spec("list_knowledge_bases", "Lists the knowledge bases that can be searched here, with their documents.",
			`{"type":"object","properties":{}}`), s.list(bases)},
		function[readArgs]{spec("parse_resource_file", "Reads the text of one of the user's documents from its beginning.",
			`{"type":"object","required":["file_id"],"properties":{"file_id":{"type":"string","description":"The document_id of a passage or of list_knowledge_bases"},`+
				`"parse_images":{"type":"boolean","description":"Whether to describe pictures too; pictures are not read here"},`+
				`"max_length":{"type":"integer","description":"How many characters, 5000 where it is left out"}}}`), s.read(bases)},
	}}, nil
}

// Specs are the tools of the package.
func Specs() (specs []tool.Spec) {
	listing, _ := new(Source).Tools(context.Background(), tool.Scope{KnowledgeBases: []string{""}}) // it asks nobody
	for _, t := range listing.Tools {
		specs = append(specs, t.Spec())
	}
	return specs
}

func spec(name, description, parameters string) tool.Spec {
	return tool.Spec{
		Name: name, Description: description, Parameters: json.RawMessage(parameters),
		Layer: tool.Builtin, Category: tool.Knowledge, ReadOnly: true, Parallel: true,
	}
}

// function is a tool that is one function of its arguments.
type function[Args any] struct {
	spec tool.Spec
	run  func(ctx context.Context, in tool.Invocation, args Args) (tool.Result, error)
}

// Spec implements [tool.Tool].
func (f function[Args]) Spec() tool.Spec { return f.spec }

// Call implements [tool.Tool].
func (f function[Args]) Call(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	if err := tool.CheckArguments(f.spec, in.Args); err != nil {
		return tool.Result{}, err
	}
	var args Args
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return tool.Result{}, &tool.Failure{Outcome: tool.Invalid, Message: "the arguments cannot be read"}
	}
	return f.run(ctx, in, args)
}

// refused is the result of a call that the service did not answer with what was asked for.
func refused(ctx context.Context, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	var own *errs.Error
	if errors.As(reasoned(err), &own) {
		return tool.Result{Text: own.Message, IsError: true}, nil
	}
	return tool.Result{Text: "the knowledge bases cannot be used at the moment", IsError: true}, nil
}
