package monitor

// Clients and Owners are the facts, for tests.
func (m *Monitor) Clients() []Client { return m.clients }
func (m *Monitor) Owners() []Owner   { return m.owners }
