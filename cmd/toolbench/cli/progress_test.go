package cli

import (
	"bytes"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// Progress is inside the package: what it tells goes to a terminal, which a test
// does not have.

func TestProgressIsSilentForASecondThenTellsAndCleansUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out, true)
		stop := p.start(3)
		p.began("first\x1b[2J")
		time.Sleep(progressAfter - time.Millisecond)
		synctest.Wait()
		assert.Empty(t, out.String())
		p.ended()
		p.began("second")
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "\r\x1b[K1 of 3  second", out.String())
		stop()
		assert.Equal(t, "\r\x1b[K1 of 3  second\r\x1b[K", out.String())
	})
}

func TestProgressOfAShortRunLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stop := newProgress(&out, true).start(1)
		time.Sleep(10 * time.Millisecond)
		stop()
		assert.Empty(t, out.String())
	})
}

func TestNoProgressWhereNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stop := newProgress(&out, false).start(1)
		time.Sleep(time.Minute)
		stop()
		assert.Empty(t, out.String())
	})
}

func TestALineOfTheLogTakesThePlaceOfProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		a, p := &app{Process: Process{Stderr: &out}, shown: new(atomic.Pointer[progress])}, newProgress(&out, true)
		a.shown.Store(p)
		p.began("waiting")
		stop := p.start(0)
		time.Sleep(progressAfter + time.Millisecond)
		synctest.Wait()
		a.logf("a remark")
		assert.Equal(t, "\r\x1b[Kwaiting\r\x1b[Ktoolbench: a remark\n", out.String())
		stop()
		assert.Equal(t, "\r\x1b[Kwaiting\r\x1b[Ktoolbench: a remark\n", out.String())
	})
}
