package loop

import (
	"context"
	"errors"
	"sync"
)

// ErrSilent is why a stream was abandoned that made no progress for Config.Idle.
var ErrSilent = errors.New("the stream fell silent")

// watch abandons a stream that makes no progress for too long (J5, O7): a connection
// that is dead without having broken, or that a gateway keeps alive with pings, would
// hold the conversation for ever. It gives back what is to be called at each progress.
func (s *Session) watch(stream context.Context, stop context.CancelCauseFunc) (progressed func()) {
	if s.cfg.Idle <= 0 {
		return func() {}
	}
	clock, actor := s.cfg.Doors.Clock, "watch/"+s.cfg.Agent
	var mu sync.Mutex
	last := clock.Now()
	clock.Go(actor, func() {
		for {
			mu.Lock()
			left := s.cfg.Idle - clock.Now().Sub(last)
			mu.Unlock()
			if left <= 0 {
				stop(ErrSilent)
				return
			}
			if clock.Sleep(stream, actor, left) != nil {
				return
			}
		}
	})
	return func() {
		mu.Lock()
		last = clock.Now()
		mu.Unlock()
	}
}
