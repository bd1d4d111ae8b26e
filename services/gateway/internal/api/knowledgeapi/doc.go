// Package knowledgeapi serves knowledge bases over REST (docs/knowledge.md): it translates between REST and the knowledge service's
// gRPC, and passes files through in pieces, in both directions.
package knowledgeapi
