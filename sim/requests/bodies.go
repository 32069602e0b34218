package requests

import "fmt"

// Of makes a session of the bodies of its requests, in the order in which they were
// sent (D5). The error names a body that says more than there is room for.
func Of(bodies [][]byte) (*Session, error) {
	s, p := &Session{Number: 1}, newParser(MaxBytes)
	for i, body := range bodies {
		r, err := p.request(string(body))
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		s.Turns = append(s.Turns, Turn{Number: i + 1, Request: r})
	}
	return s, nil
}
