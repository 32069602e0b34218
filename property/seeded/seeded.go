// Package seeded gives the properties that rapid checks the same random values in each
// run of go test, and lets rapid leave no files behind that the next run would read. Test
// files import it for that effect alone. RAPID_SEED in the environment chooses other
// values, 0 new ones in each run.
package seeded

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // declares the flags
)

func init() {
	defaults := map[string]string{"rapid.nofailfile": "true"}
	if _, chosen := os.LookupEnv("RAPID_SEED"); !chosen {
		defaults["rapid.seed"] = "1"
	}
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}
