package fanout

import (
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// Topic is what clients follow: a frame that is written to it reaches all of them. Topics are equal where their kinds and ids
// are.
type Topic struct{ subject string }

// User is followed by the clients of a user that want to hear about all that the user's nodes do.
func User(user ids.UserID) Topic { return Topic{bus.WebSubject(user)} }

// Of is a topic of a dialect's own: a room or a run, say. kind is the dialect's word for what it is and keeps the topics of
// dialects apart. Who may follow it is for the dialect to check: a topic belongs to no user.
func Of(kind, id string) Topic { return Topic{bus.TopicSubject(kind, id)} }
