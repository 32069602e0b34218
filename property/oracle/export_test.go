package oracle

// Mislead makes the machine of a pair forget the room that the calls have.
func Mislead(p *Pair) {
	p.machine.limit, p.machine.calls[0].safe = 0, true
	p.machine.calls[1].phase = ended
}
