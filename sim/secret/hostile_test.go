package secret_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Texts that begin a secret again and again and never end it cost time in proportion
// to their length, or they would be a way to stop the recorder.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time, for some seconds")
	}
	for _, unit := range []string{
		"sk-", "tvly-", "eyJ", ".eyJ", "://a:", "cookie: ", "-----BEGIN PRIVATE KEY-----", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t", "LS0tLS1CRUdJTi", "authorization: x ", "://a:@", "=\n", "\\", "%25", "&#", "\n",
		"Basic ", "key=\"", "aA1", "A1+", "/", "event:\n", "data:\n", "{\"a\":", "AIza", "AAAA\\n", "password: ",
	} {
		cost := func(n int) time.Duration {
			text := strings.Repeat(unit, n/len(unit))
			best := time.Hour
			for range 2 {
				start := time.Now()
				blanked(text, "Zx8Kq2Lm9Pw4", "aaaaaaab")
				best = min(best, time.Since(start))
			}
			return best
		}
		small, large := cost(16<<10), cost(256<<10)
		assert.Less(t, large, 64*small+time.Second, "%q: %s for 16 KiB, %s for 256 KiB", unit, small, large)
	}
}
