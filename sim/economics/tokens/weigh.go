package tokens

import "math"

// weights are a tool's lines, weighed.
type weights struct {
	full, names, hints, api int
	whole                   bool
}

// weigh weighs a tool in every mode. One that is never deferred costs the same in
// all.
func weigh(t Tool, c Counter) (weights, error) {
	full, err := c.weigh(t.whole())
	if err != nil || t.Whole {
		return weights{full, full, full, full, true}, err
	}
	names, err := c.weigh(t.named())
	if err != nil {
		return weights{}, err
	}
	hints, err := c.weigh(t.hinted())
	return weights{full: full, names: names, hints: hints}, err
}

// sum is the weight of several tools.
type sum struct {
	weights
	tools    int
	deferred int
}

func (s *sum) add(w weights) {
	s.tools++
	s.full += w.full
	s.names += w.names
	s.hints += w.hints
	s.api += w.api
	if !w.whole {
		s.deferred += w.full
	}
}

func (s *sum) cost(name string, c Counter) Cost {
	figure := func(w int) Figure { return Figure{c.tokens(w), saved(s.full, w)} }
	return Cost{name, s.tools, c.tokens(s.full), Modes{figure(s.names), figure(s.hints), figure(s.api)}}
}

// saved is the share of before that after spares, in percent, to two places.
func saved(before, after int) float64 {
	if before == 0 {
		return 0
	}
	return math.Round(float64(before-after)*10000/float64(before)) / 100
}
