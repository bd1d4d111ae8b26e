// Package agent tests runs of agents on whole clusters: two gateways, two orchestrators, real databases.
package agent
