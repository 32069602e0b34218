package promptcache

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrPrices is wrapped by errors of a price list; each names the file.
var ErrPrices = errors.New("invalid price list")

// Prices are dollars for a million tokens, of a date (D5).
type Prices struct {
	Name        string   `json:"name"`
	Date        string   `json:"date"`
	Source      string   `json:"source"`
	Assumptions []string `json:"assumptions"`
	// Input is a token that is not cached, Write one that is put into the cache,
	// Read one out of it.
	Input float64 `json:"input"`
	Write float64 `json:"write"`
	Read  float64 `json:"read"`
}

// ParsePrices reads a price list. Errors are ErrPrices.
func ParsePrices(file string, data []byte) (Prices, error) {
	var p Prices
	if err := json.Unmarshal(data, &p); err != nil {
		return Prices{}, fmt.Errorf("%w: %s: %w", ErrPrices, file, err)
	}
	if p.Name == "" || p.Date == "" || p.Input <= 0 || p.Write <= 0 || p.Read <= 0 {
		return Prices{}, fmt.Errorf("%w: %s: it needs a name, a date, and input, write and read above 0", ErrPrices, file)
	}
	return p, nil
}

// Cost is what a usage costs, in dollars.
func (p Prices) Cost(u Usage) float64 {
	const million = 1e6
	return (float64(u.Read)*p.Read + float64(u.Written)*p.Write + float64(u.Plain)*p.Input) / million
}

// Lost is what the missed tokens cost beyond what reading them would have, in
// dollars.
func (p Prices) Lost(u Usage) float64 {
	const million = 1e6
	return (float64(u.Rewritten)*(p.Write-p.Read) + float64(u.Missed-u.Rewritten)*(p.Input-p.Read)) / million
}
