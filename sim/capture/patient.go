package capture

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// patient sends a request again that a server had no time for. It stands beneath the
// recorder: a refusal that was got over is no part of the recording.
type patient struct {
	next  http.RoundTripper
	tries int
	wait  func(ctx context.Context, d time.Duration) error
	tell  func(text string)
}

// RoundTrip implements http.RoundTripper.
func (p patient) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		req.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := p.next.RoundTrip(req)
		if err != nil || !overloaded(resp.StatusCode) || try >= p.tries {
			return resp, err
		}
		d := pause(resp, try)
		p.tell(fmt.Sprintf("the API answered %d; trying again in %s (%d of %d)", resp.StatusCode, d, try+1, p.tries))
		if err := resp.Body.Close(); err != nil {
			return nil, err
		}
		if err := p.wait(req.Context(), d); err != nil {
			return nil, err
		}
	}
}

func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	return body, req.Body.Close()
}

// statusOverloaded is the API's own status for too many requests of all users.
const statusOverloaded = 529

func overloaded(status int) bool {
	return status == http.StatusTooManyRequests || status == statusOverloaded || status >= 500 && status <= 504
}

// longestPause bounds what a server may ask one to wait.
const longestPause = time.Minute

// pause is what the server asks for, else longer each time.
func pause(resp *http.Response, try int) time.Duration {
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
		return min(time.Duration(s)*time.Second, longestPause)
	}
	return min(time.Second<<try, longestPause)
}
