package audit

// like names the catalogue's locks that send the same commands. It has to guess where the log
// shows no release, or where locks differ in their code alone.
func (s *shape) like() []string {
	took, gave := s.first(s.Takes), s.first(s.Gives)
	bare := took == "SETNX" || took == "SET NX"
	switch {
	case s.stamps > 0 && s.reads == 0 && s.overwrites == 0:
		return []string{"setnx"}
	case s.stamps > 0 && s.apart > 0:
		return []string{"getset-expired"}
	case s.stamps > 0 && s.forms["GETSET"] > 0:
		return []string{"getset-equal", "getset-redisio", "timestamp-overwritten"}
	case s.stamps > 0: // without a takeover they look the same
		return []string{"timestamp-del", "getset-equal", "getset-redisio", "timestamp-overwritten"}
	case took == "INCR":
		return []string{"incr-expire"}
	case took == "HINCRBY", took == "HSETNX":
		return []string{"reentrant"}
	case bare && s.apart > 0:
		return []string{"setnx-expire"}
	case bare:
		return []string{"setnx"}
	case took == "SET NX PXAT", took == "SET NX EXAT":
		return []string{"pxat-client-clock"}
	case took == "SET NX PX GET", took == "SET NX EX GET":
		return []string{"setpx-get"}
	}
	switch {
	case len(s.tokens) == 1 && s.Granted > 1:
		return []string{"fixed-value"}
	case gave == "DEL":
		return []string{"naive-del"}
	case gave == getAndDel:
		return []string{"get-then-del"}
	case gave == "WATCH, GET and DEL":
		return []string{"setpx-watch", "setpx-watch-bare"}
	case gave == "DELEX":
		return []string{"setpx-delex"}
	case s.extended > 0:
		return []string{"watchdog", "extend-unchecked", "extend-recreate", "setpx-lua"}
	case gave != "":
		return []string{"setpx-lua", "redlock", "watchdog"}
	}
	return nil
}

func (s *shape) first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
