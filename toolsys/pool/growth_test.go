//go:build unix

package pool_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/toolsys/pool"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// BenchmarkGrowth is what a conversation pays for its tools as they become more: for the
// first request, for one when nothing changed, and for one when one server of twenty did;
// for the first search, for one after a server changed, and for any other. Beside the time
// stands that of the processor, which a busy machine changes less, and with the most tools
// the exponent of its growth, by least squares: 1 is linear.
func BenchmarkGrowth(b *testing.B) {
	for _, c := range []struct {
		about string
		make  func(tools) func()
	}{
		{"request/first", tools.cold}, {"request/unchanged", tools.unchanged}, {"request/server-changed", tools.changed},
		{"search/first", tools.coldSearch}, {"search/server-changed", tools.changedSearch}, {"search/any", tools.search},
	} {
		b.Run(c.about, func(b *testing.B) {
			var sizes, times []float64
			for _, n := range []int{100, 1000, 3000, 10_000} {
				do := c.make(many(b, n))
				b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
					do()
					b.ReportAllocs()
					before := processor(b)
					for b.Loop() {
						do()
					}
					spent := (processor(b) - before) / float64(b.N)
					b.ReportMetric(spent/1e6, "cpu-ms/op")
					sizes, times = append(sizes, float64(n)), append(times, spent)
					if n == 10_000 {
						b.ReportMetric(exponent(sizes, times), "exponent")
					}
				})
			}
		})
	}
}

// processor is the time that the process has had of processors, in nanoseconds.
func processor(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// exponent is that of the power of sizes that times grow with.
func exponent(sizes, times []float64) float64 {
	var x, y, xx, xy float64
	for i, size := range sizes {
		a, b := math.Log(size), math.Log(times[i])
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	n := float64(len(sizes))
	return (n*xy - x*y) / (n*xx - x*x)
}

// tools are those of twenty servers, and questions about them.
type tools struct {
	catalogue *pool.Catalogue
	served    []*tool.Tool
	questions []search.Query
}

// many makes tools whose descriptions have some words much more often than others.
func many(b *testing.B, n int) tools {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.2, 8, 20_000)
	words := func(n int) string {
		var all []string
		for range n {
			all = append(all, word(zipf.Uint64()))
		}
		return strings.Join(all, " ")
	}
	c, err := pool.NewCatalogue([]pool.Entry{{Name: "ToolSearch", Tool: named("ToolSearch")}})
	require.NoError(b, err)
	made := tools{catalogue: c}
	for i := range n {
		t := served(fmt.Sprintf("server%02d", i*20/n), fmt.Sprintf("%s_%d", strings.ReplaceAll(words(2), " ", "_"), i), func(d *def) {
			d.Description = words(30)
		})
		pool.SchemaOf(t) // is derived once
		made.served = append(made.served, t)
	}
	for _, text := range []string{words(3), words(12) + " slipps", "mcp__server07", made.served[n/2].Name, word(17)} {
		q, err := search.ParseQuery(text)
		require.NoError(b, err)
		made.questions = append(made.questions, q)
	}
	return made
}

// word is the i-th of many, each of two to four syllables.
func word(i uint64) string {
	var s strings.Builder
	for i += 30; i > 0; i /= 60 {
		s.WriteString(string("bcdfghklmnprst"[i%14]) + string("aeiou"[i%5]))
	}
	return s.String()
}

// request writes the definitions of a request.
func (ts tools) request(a *pool.Assembly, defs *pool.Definitions, offer []*tool.Tool) {
	v := pool.View{Settings: settings.External()}
	a.Look(a.Assemble(ts.catalogue, pool.Inputs{Settings: v.Settings, Served: offer}), v).Definitions(defs)
}

func (ts tools) cold() func() {
	return func() { ts.request(&pool.Assembly{}, pool.NewDefinitions(), ts.served) }
}

func (ts tools) unchanged() func() {
	a, defs := &pool.Assembly{}, pool.NewDefinitions()
	return func() { ts.request(a, defs, ts.served) }
}

func (ts tools) changed() func() {
	a, defs, next := &pool.Assembly{}, pool.NewDefinitions(), ts.changing()
	return func() { ts.request(a, defs, next()) }
}

// changing gives the tools with those of one server made anew each time.
func (ts tools) changing() func() []*tool.Tool {
	offer := append([]*tool.Tool(nil), ts.served...)
	return func() []*tool.Tool {
		for i, t := range offer[:len(offer)/20] {
			again := *t
			offer[i] = &again
		}
		return offer
	}
}

// ask searches what is deferred of a request, by one question after the other.
func (ts tools) ask(a *pool.Assembly, offer []*tool.Tool, n int) {
	v := pool.View{Settings: settings.External(), Deferring: true}
	a.Look(a.Assemble(ts.catalogue, pool.Inputs{Settings: v.Settings, Served: offer}), v).Index().Search(ts.questions[n%len(ts.questions)], 5)
}

func (ts tools) coldSearch() func() {
	return func() { ts.ask(&pool.Assembly{}, ts.served, 0) }
}

func (ts tools) changedSearch() func() {
	a, next := &pool.Assembly{}, ts.changing()
	return func() { ts.ask(a, next(), 0) }
}

func (ts tools) search() func() {
	a, n := &pool.Assembly{}, 0
	return func() { ts.ask(a, ts.served, n); n++ }
}
