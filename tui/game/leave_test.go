package game

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// busy is a guide that is at work on an answer until nobody waits for it. As all guides it does one thing at a time.
type busy struct {
	asked, closed chan struct{}
	working       bool
}

func (g *busy) From(ctx context.Context, _ []sim.Move) (explore.Hint, error) {
	g.working = true
	close(g.asked)
	<-ctx.Done()
	g.working = false
	return explore.Hint{}, ctx.Err()
}

func (g *busy) Close() error {
	defer close(g.closed)
	if g.working {
		return errors.New("it is at work")
	}
	return nil
}

// TestLeftWhileTheAdviserIsBusy: however a game is left, nobody waits for the answer to its last question, and what the
// guide holds is given back. bubbletea asks and quits on goroutines, as this does; continuous integration looks for races in it.
func TestLeftWhileTheAdviserIsBusy(t *testing.T) {
	_, elsewhere := openRun(t, "setpx-lua", "pause-past-ttl", 20)
	for way, leave := range map[string]func(*Game){
		"another level": func(s *Game) {
			if err := s.play(1); err != nil {
				t.Error(err)
			}
		},
		"esc": func(s *Game) {
			if quit, out := s.Update(tuitest.KeyMsg("esc")); out.Close {
				go quit()
			}
		},
		"a schedule of another setup": func(s *Game) { s.Paste(elsewhere.Run.Schedule) },
	} {
		app := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
		g := &busy{asked: make(chan struct{}), closed: make(chan struct{})}
		app.NewGuide = func(explore.Bounds, trace.Code) (screen.Guide, error) { return g, nil }
		s, err := NewLevel(app, 0)
		if err != nil {
			t.Fatal(err)
		}
		ask, answer := s.ask(), make(chan tea.Msg, 1)
		go func() { answer <- ask() }()
		<-g.asked
		leave(s)
		select {
		case <-g.closed:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the guide stays open: %s", way, s.Notice)
		}
		if h := (<-answer).(hintMsg); !errors.Is(h.err, context.Canceled) {
			t.Errorf("%s: it answers %+v", way, h)
		}
	}
}
