package economics_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/sim/economics"
)

// A prefix is found if it ends at one of the 20 blocks up to and with the breakpoint.
func TestTheCacheLooksBackTwentyBlocks(t *testing.T) {
	for added, read := range map[int]int{18: 1, 19: 1, 20: 0} {
		blocks := []economics.Block{{Text: "start", Tokens: 1, Breakpoint: true}}
		var c economics.Cache
		c.Send(blocks)
		for i := range added {
			blocks = append(blocks, economics.Block{Text: strconv.Itoa(i), Tokens: 1})
		}
		blocks[0].Breakpoint, blocks[added].Breakpoint = false, true
		assert.Equal(t, read, c.Send(blocks).Read, "%d blocks behind the kept prefix", added)
	}
}

// What is written ends with the last breakpoint; what stands behind it is paid in full, each time.
func TestWhatIsBehindTheLastBreakpointIsPlain(t *testing.T) {
	blocks := func(first string, marked int) []economics.Block {
		all := []economics.Block{{Text: first, Tokens: 1}, {Text: "b", Tokens: 10}, {Text: "c", Tokens: 100}}
		if marked >= 0 {
			all[marked].Breakpoint = true
		}
		return all
	}
	var c economics.Cache
	assert.Equal(t, economics.Usage{Written: 1, Plain: 110}, c.Send(blocks("a", 0)))
	assert.Equal(t, economics.Usage{Read: 1, Plain: 110, Missed: 110}, c.Send(blocks("a", 0)))
	assert.Equal(t, economics.Usage{Written: 1, Plain: 110, Missed: 110}, c.Send(blocks("x", 0)), "both were there before, and neither is written")
	assert.Equal(t, economics.Usage{Written: 11, Plain: 100, Missed: 110, Rewritten: 10}, c.Send(blocks("y", 1)))

	c = economics.Cache{}
	c.Send(blocks("a", -1))
	assert.Equal(t, economics.Usage{Plain: 111, Missed: 111}, c.Send(blocks("a", -1)), "what nobody asked to keep is missed from the first block on")
}
