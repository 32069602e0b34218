package fuzz

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// FindingStatus is where a finding stands in its life.
type FindingStatus string

// A finding is new when it is first seen, ongoing when it is seen again, resolved when its
// case holds, and regressed when it is seen after that.
const (
	FindingNew       FindingStatus = "new"
	FindingOngoing   FindingStatus = "ongoing"
	FindingResolved  FindingStatus = "resolved"
	FindingRegressed FindingStatus = "regressed"
)

// Finding is one cause of failures, whatever seeds showed it.
type Finding struct {
	ID    string `json:"id"`
	Broke string `json:"broke"`
	Cause string `json:"cause"`
	// Found is what was found when it was last seen, as it was worded.
	Found  string        `json:"found,omitempty"`
	Status FindingStatus `json:"status"`
	Times  int           `json:"times"`
	Again  string        `json:"again"`
	// Case is the name of the file that --replay plays.
	Case string `json:"case"`
	// Inevitable is the first moment after which nothing that was tried averts it, "" where
	// that is not known.
	Inevitable string `json:"inevitable,omitempty"`
}

// Ledger are the findings of a folder, in the order in which they were first seen.
type Ledger struct {
	Version  int       `json:"version"`
	Findings []Finding `json:"findings"`
}

// LedgerVersion is that of the file.
const LedgerVersion = 1

var (
	quotedPart = regexp.MustCompile(`"[^"]*"`)
	digits     = regexp.MustCompile(`\d+(\.\d+)?(ns|µs|ms|s|m|h)?`)
)

// causeOf is what of a failure does not depend on the case: the message without quoted
// texts, numbers and durations.
func causeOf(found string) string {
	return digits.ReplaceAllString(quotedPart.ReplaceAllString(found, `"…"`), "N")
}

// FindingID names a cause in a few characters.
func FindingID(broke, found string) string {
	sum := sha256.Sum256([]byte(broke + "\x00" + causeOf(found)))
	return hex.EncodeToString(sum[:6])
}

// Seen notes a failure and gives its finding.
func (l *Ledger) Seen(broke, found, again string) *Finding {
	id := FindingID(broke, found)
	for i := range l.Findings {
		f := &l.Findings[i]
		if f.ID != id {
			continue
		}
		f.Times++
		f.Again, f.Found = again, found
		if f.Status == FindingResolved || f.Status == FindingRegressed {
			f.Status = FindingRegressed
		} else {
			f.Status = FindingOngoing
		}
		return f
	}
	l.Findings = append(l.Findings, Finding{ID: id, Broke: broke, Cause: causeOf(found), Found: found, Status: FindingNew, Times: 1, Again: again})
	return &l.Findings[len(l.Findings)-1]
}

// Played notes what became of a finding's own case: one that holds is resolved, one that
// failed before is ongoing, and one that had been resolved has regressed.
func (f *Finding) Played(holds bool) {
	switch {
	case holds:
		f.Status = FindingResolved
	case f.Status == FindingResolved:
		f.Status = FindingRegressed
	case f.Status == FindingNew:
		f.Status = FindingOngoing
	}
}
