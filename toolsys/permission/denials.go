package permission

// After so many denials, in a row or in all, auto mode asks again (SPEC F3).
const (
	MaxDenialsInRow = 3
	MaxDenials      = 20
)

// Denials counts what a session, or a sub-agent by itself (SPEC B4), was denied.
type Denials struct{ InRow, Total int }

// Denied is the count after one more denial.
func (d Denials) Denied() Denials { return Denials{d.InRow + 1, d.Total + 1} }

// Allowed is the count after a call was allowed: the row ends, the total stays.
func (d Denials) Allowed() Denials { return Denials{0, d.Total} }

// FallBack reports whether auto mode has to ask the user now (SPEC F3).
func (d Denials) FallBack() bool {
	return d.InRow >= MaxDenialsInRow || d.Total >= MaxDenials
}
