package adapter

// Transcribe has a function called for each line that is said from now on, with the descriptor of
// the control connection.
func (p *Program) Transcribe(line func(fd int, line string)) {
	p.transcript = line
	for _, ch := range append(p.idle, p.origin) {
		if ch != nil {
			ch.transcript = line
		}
	}
}

// Cause is cause, for its test.
var Cause = cause
