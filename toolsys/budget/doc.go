// Package budget keeps what tools give back from filling the model's window
// (SPEC K1-K3). A result over its tool's own limit, and the largest results of a
// message over the message's limit, go whole to a file; the model gets the
// beginning, the size and the path.
//
// A decision, once sent, is frozen: asked again about the same result, a [Ledger]
// gives the same bytes, because a request that repeats the conversation with other
// bytes loses the prompt cache. That is why the decisions are kept and not worked
// out anew.
//
// Only text counts and only text is moved. Images, documents and references stay
// where they are and weigh nothing here: they have limits of their own, in pixels
// and pages, where they are made.
//
// A tool that limits itself (Read) is never chosen, neither by its own size nor by
// the message's: a saved result is read with Read, and would be saved again, and
// read again. One bound holds for it too: text of [MaxInlineBytes] is cut short
// with a note, since no window can hold it.
package budget
