// Command http2-client makes requests with Go's net/http over HTTP/2 and checks the answers.
//
//	http2-client <url> <file with the CA's certificate> <case>
//
// It exits with 1 and a line on standard error where an answer is not as it must be. The paths it asks for are those of
// test/interop/server.ts.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const megabyte = 1 << 20

// client is one http.Client with one connection at most, and what httptrace reported of it.
type client struct {
	url       string
	http      *http.Client
	transport *http.Transport
	dialled   atomic.Int64
	continued atomic.Int64
}

var cases = map[string]func(*client) error{
	"parallel":      parallel,
	"large-bodies":  largeBodies,
	"small-windows": smallWindows,
	"trailers":      trailers,
	"cancel":        cancel,
	"drain":         drain,
	"large-headers": largeHeaders,
	"ping":          ping,
	"continue":      expectContinue,
	"bodiless":      bodiless,
	"errors":        afterErrors,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 || cases[args[2]] == nil {
		return errors.New("usage: http2-client <url> <CA file> <case>")
	}
	pem, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return errors.New("no certificate in the CA file")
	}
	c := newClient(args[0], roots)
	if args[2] == "small-windows" {
		c.transport.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 64 << 10, MaxReadFrameSize: 16 << 10}
	}
	if args[2] == "ping" {
		c.transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 50 * time.Millisecond, PingTimeout: 5 * time.Second}
	}
	return cases[args[2]](c)
}

func newClient(url string, roots *x509.CertPool) *client {
	transport := &http.Transport{
		TLSClientConfig:       &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2:     true,
		MaxConnsPerHost:       1,
		ExpectContinueTimeout: time.Minute,
		DisableCompression:    true,
	}
	return &client{url: url, transport: transport, http: &http.Client{Transport: transport, Timeout: time.Minute}}
}

func (c *client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	trace := &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				c.dialled.Add(1)
			}
		},
		Got100Continue: func() { c.continued.Add(1) },
	}
	return http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), method, c.url+path, body)
}

// do sends a request and reads all of its answer.
func (c *client) do(method, path string, body io.Reader) (*http.Response, []byte, error) {
	request, err := c.request(context.Background(), method, path, body)
	if err != nil {
		return nil, nil, err
	}
	return c.send(request)
}

func (c *client) send(request *http.Request) (*http.Response, []byte, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 {
		return nil, nil, fmt.Errorf("answered over %s", response.Proto)
	}
	content, err := io.ReadAll(response.Body)
	return response, content, err
}

// get checks that a path is answered with the bytes whose digest is in the answer's header.
func (c *client) get(path string, length int) error {
	response, content, err := c.do(http.MethodGet, path, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if response.StatusCode != 200 || len(content) != length || digest(content) != response.Header.Get("X-Digest") {
		return fmt.Errorf("%s: status %d, %d bytes, %s", path, response.StatusCode, len(content), digest(content))
	}
	return nil
}

// stillUsable checks that the connection serves on and that there never was a second one.
func (c *client) stillUsable() error {
	_, content, err := c.do(http.MethodGet, "/", nil)
	if err != nil || string(content) != "ok" {
		return fmt.Errorf("the next request: %q, %v", content, err)
	}
	if dialled := c.dialled.Load(); dialled != 1 {
		return fmt.Errorf("%d connections instead of one", dialled)
	}
	return nil
}

func digest(content []byte) string {
	return fmt.Sprintf("%d %x", len(content), sha256.Sum256(content))
}

func random(length int) []byte {
	content := make([]byte, length)
	_, _ = rand.Read(content)
	return content
}

// atOnce runs work in many goroutines and returns the first error.
func atOnce(count int, work func() error) error {
	var group sync.WaitGroup
	failures := make(chan error, count)
	for range count {
		group.Go(func() {
			if err := work(); err != nil {
				failures <- err
			}
		})
	}
	group.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

func parallel(c *client) error {
	get := func() error { return c.get("/size/1000", 1000) }
	for range 10 {
		if err := atOnce(100, get); err != nil {
			return err
		}
	}
	if err := c.stillUsable(); err != nil {
		return err
	}
	// More than the server takes on one connection: the client opens others.
	return atOnce(500, get)
}

func largeBodies(c *client) error {
	for _, path := range []string{"/size/", "/stream/"} {
		if err := c.get(path+strconv.Itoa(32*megabyte), 32*megabyte); err != nil {
			return err
		}
	}
	echo := func(length int) error {
		sent := random(length)
		_, received, err := c.do(http.MethodPost, "/echo", bytes.NewReader(sent))
		if err != nil || !bytes.Equal(sent, received) {
			return fmt.Errorf("echo of %d bytes: %d bytes, %v", length, len(received), err)
		}
		return nil
	}
	if err := echo(32 * megabyte); err != nil {
		return err
	}
	if err := atOnce(20, func() error { return echo(megabyte) }); err != nil {
		return err
	}
	return c.stillUsable()
}

func smallWindows(c *client) error {
	if err := atOnce(10, func() error { return c.get("/stream/"+strconv.Itoa(2*megabyte), 2*megabyte) }); err != nil {
		return err
	}
	return c.stillUsable()
}

func trailers(c *client) error {
	request, err := c.request(context.Background(), http.MethodPost, "/trailers", io.NopCloser(strings.NewReader("body")))
	if err != nil {
		return err
	}
	request.Trailer = http.Header{"X-Request-Checksum": {"41"}}
	response, content, err := c.send(request)
	if err != nil {
		return err
	}
	if string(content) != "body" || response.Trailer.Get("X-Checksum") != "42" || response.Trailer.Get("X-Last") != "yes" {
		return fmt.Errorf("body %q, trailers %v", content, response.Trailer)
	}
	return c.stillUsable()
}

func cancel(c *client) error {
	for range 50 {
		ctx, stop := context.WithCancel(context.Background())
		request, err := c.request(ctx, http.MethodGet, "/endless", nil)
		if err != nil {
			stop()
			return err
		}
		response, err := c.http.Do(request)
		if err != nil {
			stop()
			return err
		}
		_, err = io.ReadFull(response.Body, make([]byte, 100_000))
		stop()
		if err != nil {
			return err
		}
		if _, err = io.ReadAll(response.Body); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("after cancelling: %v", err)
		}
	}
	return c.stillUsable()
}

// drain has 20 requests under way while the server begins to drain; the next one finds nobody.
func drain(c *client) error {
	var name atomic.Int64
	err := atOnce(20, func() error {
		path := "/hold/" + strconv.FormatInt(name.Add(1)-1, 10)
		_, content, err := c.do(http.MethodGet, path, nil)
		if err != nil || string(content) != "held "+path[len("/hold/"):] {
			return fmt.Errorf("%s: %q, %v", path, content, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, _, err = c.do(http.MethodGet, "/", nil); err == nil {
		return errors.New("a request after GOAWAY was answered")
	}
	return nil
}

func largeHeaders(c *client) error {
	request, err := c.request(context.Background(), http.MethodGet, "/header-digest", nil)
	if err != nil {
		return err
	}
	value := fmt.Sprintf("%x", random(20_000))
	request.Header.Set("x-part-0", value)
	_, content, err := c.send(request)
	if err != nil || string(content) != digest([]byte(value)) {
		return fmt.Errorf("headers sent: %q, %v", content, err)
	}
	response, _, err := c.do(http.MethodGet, "/headers/100000", nil)
	if err != nil {
		return err
	}
	for i := range 100 {
		if found := response.Header.Get("X-Part-" + strconv.Itoa(i)); len(found) != 1000 {
			return fmt.Errorf("header %d of the answer: %q", i, found)
		}
	}
	return c.stillUsable()
}

// ping waits for an answer for so long that the transport asks whether the connection is alive, several times.
func ping(c *client) error {
	_, content, err := c.do(http.MethodGet, "/hold/ping", nil)
	if err != nil || string(content) != "held ping" {
		return fmt.Errorf("%q, %v", content, err)
	}
	return c.stillUsable()
}

func expectContinue(c *client) error {
	sent := random(100_000)
	request, err := c.request(context.Background(), http.MethodPut, "/digest", bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Expect", "100-continue")
	_, content, err := c.send(request)
	if err != nil || string(content) != digest(sent) {
		return fmt.Errorf("%q, %v", content, err)
	}
	if continued := c.continued.Load(); continued != 1 {
		return fmt.Errorf("100 Continue came %d times", continued)
	}
	return c.stillUsable()
}

func bodiless(c *client) error {
	for _, path := range []string{"/size/1000", "/stream/1000"} {
		response, content, err := c.do(http.MethodHead, path, nil)
		if err != nil || response.StatusCode != 200 || len(content) != 0 {
			return fmt.Errorf("HEAD %s: %d bytes, %v", path, len(content), err)
		}
		if path == "/size/1000" && response.ContentLength != 1000 {
			return fmt.Errorf("HEAD %s: Content-Length %d", path, response.ContentLength)
		}
	}
	for _, status := range []int{204, 304} {
		response, content, err := c.do(http.MethodGet, "/status/"+strconv.Itoa(status), nil)
		if err != nil || response.StatusCode != status || len(content) != 0 {
			return fmt.Errorf("status %d: %d bytes, %v", status, len(content), err)
		}
	}
	return c.stillUsable()
}

func afterErrors(c *client) error {
	if _, content, err := c.do(http.MethodGet, "/broken", nil); err == nil {
		return fmt.Errorf("an answer that broke off was taken for whole: %q", content)
	}
	if _, _, err := c.do(http.MethodGet, "/throws", nil); err == nil {
		return errors.New("a request whose handler failed was answered")
	}
	for _, status := range []int{400, 404, 500, 503} {
		response, _, err := c.do(http.MethodGet, "/status/"+strconv.Itoa(status), nil)
		if err != nil || response.StatusCode != status {
			return fmt.Errorf("status %d: %v", status, err)
		}
	}
	// A body of which the server reads nothing.
	response, _, err := c.do(http.MethodPost, "/nothing", bytes.NewReader(random(megabyte)))
	if err != nil || response.StatusCode != 404 {
		return fmt.Errorf("a body that is not read: %v", err)
	}
	return c.stillUsable()
}
