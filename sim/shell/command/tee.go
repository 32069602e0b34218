package command

import (
	"bytes"
	"io"
)

// tee copies standard input to standard output and to each file.
func (p *Proc) tee(o options) int {
	in, err := io.ReadAll(p.Stdin)
	if err != nil {
		return p.failure("-", err)
	}
	code := 0
	for _, name := range o.rest {
		if err := p.store(name, in, o.has("a")); err != nil {
			code = p.failure(name, err)
		}
	}
	if _, err := io.Copy(p.Stdout, bytes.NewReader(in)); err != nil {
		return exitFailure
	}
	return code
}

func (p *Proc) store(name string, data []byte, appending bool) error {
	w, err := p.Files.Create(name, appending)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return firstError(err, w.Close())
}
