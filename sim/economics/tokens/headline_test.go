package tokens_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/sim/economics/tokens"
)

// The headline of deferral: fifty tools of some 200 tokens are 10,000; with twenty
// of them whole and thirty by name and hint about half is saved (E8).
func TestHalfIsSavedWhenThirtyOfFiftyGoByName(t *testing.T) {
	var tools []tokens.Tool
	for i := range 50 {
		tools = append(tools, tokens.Tool{
			Name: fmt.Sprintf("mcp__synthetic__tool_%02d", i), Server: "synthetic", Whole: i < 20, Schema: `{"type":"object"}`,
			Description: fmt.Sprintf("Does thing %d to what it is given, and says what came of it in a few words. ", i) + strings.Repeat("More of it. ", 52),
		})
	}
	r := count(t, tools, tokens.Options{})
	assert.InDelta(t, 10_000, r.Total.Full, 500)
	assert.InDelta(t, 5_000, r.Total.Modes.Hints.Tokens, 500)
	assert.InDelta(t, 50, r.Total.Modes.Hints.Saved, 5)
}
