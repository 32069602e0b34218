package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"path"

	"golang.org/x/tools/txtar"
)

// scanArchive reads a txtar archive: requests and responses as files. A response answers the request before it; one
// whose name has another's for a folder ("streaming/tool-call" after "streaming") goes on where that one ended.
func (s *scanner) scanArchive(r *bufio.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(r, s.limits.Part+1))
	if err != nil {
		return s.broken(err)
	}
	if int64(len(raw)) > s.limits.Part {
		return s.fail(ErrTooLarge, "the archive is larger than %d bytes", s.limits.Part)
	}
	a := &archiveScan{exchanges: s.exchanges(), threads: map[string]*thread{}}
	at := 1 + bytes.Count(txtar.Parse(raw).Comment, []byte("\n"))
	for _, f := range txtar.Parse(raw).Files {
		if err := a.file(f, at+1); err != nil {
			return err
		}
		at += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	return a.chains.end()
}

type archiveScan struct {
	*exchanges
	threads map[string]*thread // by the name of the response that began them
	request []byte
	url     string
}

func (a *archiveScan) file(f txtar.File, at int) error {
	data := bytes.TrimSpace(f.Data)
	if req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data))); err == nil {
		a.url = req.URL.String()
		data, _ = payload(data, req.TransferEncoding, req.Body) // broken chunks end it
	}
	if _, ok := parseRequest(a.url, data); ok {
		a.request = bytes.Clone(data)
		return nil
	}
	x := &exchange{line: at, url: cmp.Or(a.url, "/v1/messages"), request: a.request, response: data, header: http.Header{}, status: http.StatusOK}
	if resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil); err == nil {
		x.header, x.status = resp.Header, resp.StatusCode
		x.response, _ = payload(data, resp.TransferEncoding, resp.Body)
	}
	if _, err := x.read(a.s.limits.Part); errors.Is(err, errNoModel) && a.url == "" {
		a.s.ignore("files that are no exchange")
		return nil
	}
	a.s.format = Txtar
	a.number++
	x.number = a.number
	x.follows = a.threads[path.Dir(f.Name)]
	if x.follows != nil {
		x.request = nil // what was sent after the first answer is not in the archive
	}
	before := a.chains.order.Front()
	if err := a.chains.take(x); err != nil {
		return err
	}
	if e := a.chains.order.Front(); e != nil && (e != before || x.follows != nil) {
		a.threads[f.Name] = e.Value.(*thread) // which the response began
	}
	return nil
}
