package space

import (
	"testing"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
)

// TestPeersAreTold: every connection that a client can have has a number of its own, which is not that of
// the connection of no client.
func TestPeersAreTold(t *testing.T) {
	for client := range bounds.MaxClients {
		for conn := range uint8(behaviour.MaxConns) {
			p := flight.Peer(client, conn)
			if c, n := flight.PeerClient(int(p)), flight.PeerConn(int(p)); c != client || n != conn || p >= flight.Nobodys {
				t.Errorf("connection %d of client %d is %d, which is connection %d of client %d", conn, client, p, n, c)
			}
		}
	}
}
