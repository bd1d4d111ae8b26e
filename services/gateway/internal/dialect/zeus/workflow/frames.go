package workflow

import (
	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// Message is what web clients read when a workflow did not complete.
func Message(err *errs.Error) string {
	switch err.Reason {
	case errs.NodeNotConnected:
		return "Extension not connected"
	case errs.ToolTimeout:
		return "Workflow timed out"
	case errs.NodeDisconnected:
		return "Extension disconnected"
	}
	return err.Reason.Title()
}

// Failed returns the workflow_complete frame of a workflow that no node completed.
func Failed(message string) []byte {
	b := []byte(`{"type":"workflow_complete","task_id":null,"success":false,"error":`)
	return append(jsonrpc.AppendString(b, message), '}')
}

// Frame returns an execute_workflow frame. variables is a JSON object; empty means {}.
func Frame(workflowID string, variables []byte) []byte {
	b := jsonrpc.AppendString([]byte(`{"type":"execute_workflow","workflow_id":`), workflowID)
	b = append(b, `,"variables":`...)
	if len(variables) == 0 {
		variables = []byte(`{}`)
	}
	return append(append(b, variables...), '}')
}
