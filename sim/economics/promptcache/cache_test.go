package promptcache_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/sim/economics/promptcache"
)

// A prefix is found if it ends at one of the 20 blocks up to and with the breakpoint.
func TestTheCacheLooksBackTwentyBlocks(t *testing.T) {
	for added, read := range map[int]int{18: 1, 19: 1, 20: 0} {
		blocks := []promptcache.Block{{Text: "start", Tokens: 1, Breakpoint: true}}
		var c promptcache.Cache
		c.Send(blocks)
		for i := range added {
			blocks = append(blocks, promptcache.Block{Text: strconv.Itoa(i), Tokens: 1})
		}
		blocks[0].Breakpoint, blocks[added].Breakpoint = false, true
		assert.Equal(t, read, c.Send(blocks).Read, "%d blocks behind the kept prefix", added)
	}
}
