package pool

// DefinitionsKept and Len let a test see that the store is bounded.
const DefinitionsKept = generation

func (d *Definitions) Len() int { return len(d.young) + len(d.old) }
