package run

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A run that goes on is not called hung for its length alone, but one that never ends is.
func TestARunIsHungWhenNothingHappens(t *testing.T) {
	for name, c := range map[string]struct {
		events []int64
		hung   bool
	}{
		"it goes on":              {[]int64{5, 9, 10}, false},
		"nothing at all":          {[]int64{0, 0, 0, 0}, true},
		"it stands still":         {[]int64{5, 9, 9, 9, 9, 9}, true},
		"its process was stopped": {[]int64{5, 9, 9, 12, 12, 15, 15}, false},
	} {
		var p progress
		var hung bool
		for _, n := range c.events {
			assert.False(t, hung, name)
			hung = p.over(n)
		}
		assert.Equal(t, c.hung, hung, name)
	}
	endless := progress{most: 40}
	for n := range int64(40) {
		assert.Equal(t, n == 39, endless.over(n+1), "it never ends: %d", n)
	}
}
