// Package grpcapi serves KnowledgeService: it checks requests, and translates between them and the store, the search and the queue.
package grpcapi
