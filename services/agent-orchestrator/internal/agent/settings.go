package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// settings are what any pod needs to go on with a run, besides its conversation.
type settings struct {
	// Invoke is the request that began the run, without message and history, and with what resumes replaced.
	Invoke *agentv1.InvokeRequest
	// HumanOrder is what the user said with the last resume.
	HumanOrder string
	// Traceparent is the trace of the request that began or resumed the run; "" if it had none.
	Traceparent string
}

// sealedSettings is the form in which settings are encrypted and stored.
type sealedSettings struct {
	Invoke     []byte `json:"invoke"`
	HumanOrder string `json:"human_order,omitempty"`
	Trace      string `json:"trace,omitempty"`
}

func newSettings(ctx context.Context, req *agentv1.InvokeRequest) settings {
	kept := proto.CloneOf(req)
	kept.Message, kept.ChatHistory, kept.IdempotencyKey = "", nil, ""
	return settings{Invoke: kept, Traceparent: obs.Traceparent(ctx)}
}

// resumed returns the settings with which a run goes on after req.
func (s settings) resumed(ctx context.Context, req *agentv1.ResumeRequest) settings {
	if req.GetModel() != nil {
		s.Invoke.Model = req.GetModel()
	}
	if config := req.GetToolInterruptConfig(); config != nil {
		s.Invoke.ToolInterruptConfig = config.GetTools()
	}
	s.HumanOrder, s.Traceparent = req.GetHumanOrder(), obs.Traceparent(ctx)
	return s
}

// sealSettings encrypts settings for the store.
func sealSettings(sealer Sealer, user ids.UserID, s settings) ([]byte, error) {
	invoke, err := proto.Marshal(s.Invoke)
	if err != nil {
		return nil, fmt.Errorf("settings of a run: %w", err)
	}
	plain, err := json.Marshal(sealedSettings{invoke, s.HumanOrder, s.Traceparent})
	if err != nil {
		return nil, fmt.Errorf("settings of a run: %w", err)
	}
	return sealer.Seal(seal.RunSettings, user, plain)
}

// openSettings is the reverse of sealSettings.
func openSettings(sealer Sealer, user ids.UserID, sealed []byte) (settings, error) {
	plain, err := sealer.Open(seal.RunSettings, user, sealed)
	if err != nil {
		return settings{}, err
	}
	var in sealedSettings
	if err := json.Unmarshal(plain, &in); err != nil {
		return settings{}, fmt.Errorf("settings of a run: %w", err)
	}
	s := settings{Invoke: new(agentv1.InvokeRequest), HumanOrder: in.HumanOrder, Traceparent: in.Trace}
	if err := proto.Unmarshal(in.Invoke, s.Invoke); err != nil {
		return settings{}, fmt.Errorf("settings of a run: %w", err)
	}
	return s, nil
}

func (s settings) mode() string {
	if mode := s.Invoke.GetMode(); mode != "" {
		return mode
	}
	return tool.ModeAgent
}

// endpointOf returns the model of a run and its window in tokens. What the request leaves out comes from the pod's
// configuration; the pod's key goes to the pod's endpoint only.
func endpointOf(cfg Config, addresses Addresses, m *agentv1.ModelConfig) (at llm.Endpoint, window int, err error) {
	at, window = cfg.Default, cfg.DefaultWindow
	if url := m.GetBaseUrl(); url != "" && url != at.BaseURL {
		at.BaseURL, at.APIKey, at.Guarded = url, "", true
	}
	if m.GetApiKey() != "" {
		at.APIKey = m.GetApiKey()
	}
	if name := m.GetModelName(); name != "" && name != at.Model {
		at.Model, window = name, 0
	}
	if m.GetContextWindow() > 0 {
		window = int(m.GetContextWindow())
	}
	if m != nil && m.Temperature != nil {
		at.Temperature = m.Temperature
	}
	if at.BaseURL == "" || at.Model == "" {
		return at, 0, errs.New(errs.ModelMissing, "llm_config needs baseUrl and modelName: this server has no model of its own")
	}
	if at.Guarded && addresses != nil {
		var refused *errs.Error
		if err := addresses.Check(at.BaseURL); errors.As(err, &refused) {
			return at, 0, errs.New(refused.Reason, "llm_config.baseUrl: %s", refused.Message)
		}
	}
	if window == 0 {
		window = llm.Window(at.Model)
	}
	return at, window, nil
}
