package peer

import (
	"bufio"
	"net"

	"github.com/hecaton-dev/hecaton/pkg/config"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Admit is the listening side's handshake, for fuzzing.
func Admit(nc net.Conn, gateway ids.GatewayID, token config.Secret) error {
	return admit(nc, bufio.NewReaderSize(nc, maxPreface), gateway, token)
}
