package message

import "bytes"

// Read reads an event with the reader that knows what events nearly always look like, and
// reports whether it could.
func Read(data []byte) (ev any, ok bool) {
	var r eventReader
	read, err := r.read(bytes.Clone(data))
	return values(read), err == nil && read == &r.ev
}

// General reads an event as encoding/json does.
func General(data []byte) (any, error) {
	ev, err := general(data)
	return values(ev), err
}

// values is an event as values only, its texts of no length all alike.
func values(ev *event) any {
	if ev == nil {
		return nil
	}
	v := struct {
		Event event
		Texts [6]string
		Begun startedMessage
		Usage Usage
	}{Event: *ev}
	d := &v.Event.delta
	v.Texts = [6]string{string(d.text), string(d.json), string(d.thinking), string(d.signature), string(d.citation), string(ev.block)}
	if ev.message != nil {
		v.Begun = *ev.message
		v.Begun.content = append([]Block(nil), ev.message.content...)
	}
	if ev.usage != nil {
		v.Usage = *ev.usage
	}
	v.Event = event{kind: ev.kind, index: ev.index, delta: delta{kind: d.kind, stop: d.stop}, fault: ev.fault}
	return v
}
