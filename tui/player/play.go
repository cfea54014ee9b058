package player

import (
	"cmp"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/quiz"
	"lockstep/tui/told"
)

const usualSpeed, mostSpeed = 3, 6

// pace is how long an event stays on the screen: at the usual speed half a
// second, and a tenth of that if there is nothing to be seen of it.
func (p *Player) pace() time.Duration {
	d := 4 * time.Second >> p.speed
	if p.Pos < p.Run.Last() && !p.Run.Matters(p.Pos) {
		d /= 10
	}
	if p.watched {
		d += p.reading()
	}
	return d
}

// Watch moves the cursor, and returns how long a run that is watched stays there.
func (p *Player) Watch(pos int) time.Duration {
	p.watched = true
	p.quiz.Answer(p.Pos, quiz.None)
	p.goTo(pos)
	return p.pace()
}

// reading is the time that it takes to read the words told or asked here for the first time.
func (p *Player) reading() time.Duration {
	asked, judged := p.quiz.Words(p.Pos, p.teller(quiz.Paragraph, true))
	each := told.PerAsked
	if p.question() == nil {
		each = told.PerWord
	}
	takes := time.Duration(asked)*each + time.Duration(judged+told.Words(p.Run, p.Pos))*told.PerWord
	return takes << usualSpeed >> p.speed
}

func (p *Player) setSpeed(speed int) {
	p.speed = min(max(speed, 1), mostSpeed)
	p.Notice = fmt.Sprintf("speed %d of %d", p.speed, mostSpeed)
}

// TogglePlay plays the run, from the beginning where it stands at the end, or stops it.
func (p *Player) TogglePlay() tea.Cmd {
	if p.playing = !p.playing; !p.playing {
		p.watched = false
		return nil
	}
	if p.Pos == p.Run.Last() {
		p.goTo(0)
	}
	return p.later()
}

// later has the run stay where it is for its time.
func (p *Player) later() tea.Cmd {
	p.left = p.pace()
	return p.wait()
}

// wait sets the timer for the end of the stay or, where its seconds are counted, for the next of them. There is never
// more than one that counts.
func (p *Player) wait() tea.Cmd {
	d := p.left
	if p.counts() {
		d = min(d, time.Second)
		p.Notice = fmt.Sprintf("Goes on in %d s: %s answers, %s passes, any key stops the clock.", (p.left+time.Second-1)/time.Second, p.choices(), p.Keys.Enter.Help().Key)
	}
	p.left -= d
	p.tick = p.Serial()
	return p.After(d, tickMsg(p.tick))
}

// counts reports whether the run goes on by itself from an open question: nobody needs to be there, and anybody
// there sees how long it stays.
func (p *Player) counts() bool { return p.playing && p.watched && p.question() != nil }

// skip has a run that plays by itself go on at once, and play on from there.
func (p *Player) skip() tea.Cmd {
	if p.Notice = p.playsOn(); p.quiz.At(p.Pos) == nil {
		p.Advance()
	} else if !p.quiz.GoOn(p.Pos) {
		p.goTo(p.Pos + 1)
	}
	return p.stayOrStop()
}

// stopClock has a key work at a question that would be gone before long. The run waits for an answer, and plays on
// after it. With any other key the reader has not done with the question, and the run stops.
func (p *Player) stopClock(k tea.KeyMsg) tea.Cmd {
	p.looks(k)
	if !p.counts() { // the words have been read, and only the reader's own are new
		p.Notice, p.left = p.playsOn(), time.Second<<usualSpeed>>p.speed
		return p.wait()
	}
	said := p.Notice
	p.rest()
	p.Notice = cmp.Or(said, p.Notice)
	return nil
}

// played is one step of playing, or of the clock at a question.
func (p *Player) played(tick int) tea.Cmd {
	if tick != p.tick || !p.playing || p.Run == nil {
		return nil
	}
	if p.left > 0 {
		return p.wait()
	}
	if p.counts() { // nobody answers: the answer is told where it comes
		p.Notice = p.playsOn()
		p.quiz.Answer(p.Pos, quiz.None)
	}
	p.goTo(p.Pos + 1)
	return p.stayOrStop()
}

// stayOrStop has a run that plays stay where it has come to, or stop, and say so, where the class should look or think: at a
// violation, at a question, unless nobody is there to answer, at the end.
func (p *Player) stayOrStop() tea.Cmd {
	switch _, fresh := p.Run.Breached(p.Pos); {
	case p.Pos == p.Run.Last():
		p.playing, p.Notice = false, "The run has ended: "+p.Keys.Play.Help().Key+" plays it again."
	case len(fresh) > 0, !p.watched && p.question() != nil:
		p.rest()
	default:
		return p.later()
	}
	return nil
}

// playsOn says that the run plays by itself.
func (p *Player) playsOn() string {
	return "The run plays by itself: " + p.Keys.Play.Help().Key + " stops it."
}

// rest stops the playing, and says so.
func (p *Player) rest() {
	p.playing, p.Notice = false, "The run stops here: "+p.Keys.Play.Help().Key+" plays on."
}
