package flight

// connBits are the bits of a connection's number among those of its client.
const connBits = 4

// Nobodys is a connection of no client: their numbers are smaller.
const Nobodys uint16 = (1<<connBits - 1) << connBits

// Peer numbers a client's connection among those of all clients, as servers know it.
func Peer(client int, conn uint8) uint16 { return uint16(client)<<connBits | uint16(conn) }

// PeerClient returns the client whose connection has a number.
func PeerClient(peer int) int { return peer >> connBits }

// PeerConn returns the number that a connection has among those of its client.
func PeerConn(peer int) uint8 { return uint8(peer & (1<<connBits - 1)) }
