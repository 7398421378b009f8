// The informer of the rig: a shared informer of Jobs as controllers run it. It writes one JSON line for each request that leaves
// it, each event that the watch delivers, each change that the informer reports to its handlers, and each error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// line is one line of output; "kind" says which of the other fields are set.
type line struct {
	// request, answer, watch-event, change, synced, error or end
	Kind string `json:"kind"`

	// Of a request and of its answer: "list" or "watch".
	Verb        string `json:"verb,omitempty"`
	Query       string `json:"query,omitempty"`
	Protocol    string `json:"protocol,omitempty"`
	Status      int    `json:"status,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	// The transport decompressed the answer.
	Compressed bool `json:"compressed,omitempty"`

	// Of an event or a change.
	Type            string `json:"type,omitempty"`
	Name            string `json:"name,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Of a bookmark: it marks the end of the initial events.
	InitialEventsEnd bool `json:"initialEventsEnd,omitempty"`

	Message string `json:"message,omitempty"`
}

// output writes whole lines, also when several goroutines write.
type output struct {
	mutex  sync.Mutex
	buffer *bufio.Writer
}

func (o *output) write(l line) {
	encoded, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.buffer.Write(append(encoded, '\n'))
	o.buffer.Flush()
}

// counted reports every request and the head of its answer.
type counted struct {
	next http.RoundTripper
	out  *output
}

func (c counted) RoundTrip(request *http.Request) (*http.Response, error) {
	verb := "list"
	if request.URL.Query().Get("watch") != "" {
		verb = "watch"
	}
	// Before it is sent: a request without an answer counts too.
	c.out.write(line{Kind: "request", Verb: verb, Query: request.URL.RawQuery})
	response, err := c.next.RoundTrip(request)
	if err != nil {
		c.out.write(line{Kind: "error", Verb: verb, Message: err.Error()})
		return response, err
	}
	c.out.write(line{
		Kind:        "answer",
		Verb:        verb,
		Protocol:    response.Proto,
		Status:      response.StatusCode,
		ContentType: response.Header.Get("Content-Type"),
		Compressed:  response.Uncompressed,
	})
	return response, nil
}

// extended adds parameters to the query of every watch.
type extended struct {
	next       http.RoundTripper
	parameters string
}

func (e extended) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("watch") == "" {
		return e.next.RoundTrip(request)
	}
	changed := request.Clone(request.Context())
	changed.URL.RawQuery += "&" + e.parameters
	return e.next.RoundTrip(changed)
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the kubeconfig file")
	kubeContext := flag.String("context", "", "the context in it; its current one by default")
	namespace := flag.String("namespace", metav1.NamespaceAll, "the namespace; all by default")
	contentType := flag.String("content-type", runtime.ContentTypeJSON, "of answers")
	userAgent := flag.String("user-agent", rest.DefaultKubernetesUserAgent(), "shown in the audit logs of servers")
	http1 := flag.Bool("http1", false, "HTTP/1.1 instead of HTTP/2")
	parameters := flag.String("watch-parameters", "", "added to the query of every watch")
	klog.InitFlags(nil)
	flag.Parse()

	out := &output{buffer: bufio.NewWriter(os.Stdout)}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	config, err := clientConfig(*kubeconfig, *kubeContext)
	if err != nil {
		fail(err)
	}
	config.UserAgent = *userAgent
	config.ContentType = *contentType
	config.AcceptContentTypes = *contentType
	if *http1 {
		config.NextProtos = []string{"http/1.1"}
	}
	if *parameters != "" {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return extended{next: next, parameters: *parameters} })
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counted{next: next, out: out} })
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	if err := run(ctx, client, *namespace, out); err != nil {
		fail(err)
	}
	out.write(line{Kind: "end"})
}

func clientConfig(path, kubeContext string) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: kubeContext}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
}

func run(ctx context.Context, client kubernetes.Interface, namespace string, out *output) error {
	jobs := client.BatchV1().Jobs(namespace)
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return jobs.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := jobs.Watch(ctx, options)
			if err != nil {
				return nil, err
			}
			return tapped(events, out), nil
		},
	}
	informer := cache.NewSharedIndexInformer(
		cache.ToListWatcherWithWatchListSemantics(source, client),
		&batchv1.Job{},
		0,
		cache.Indexers{},
	)
	err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		out.write(line{Kind: "error", Message: err.Error()})
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	})
	if err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(handler(out))
	if err != nil {
		return err
	}
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			out.write(line{Kind: "synced"})
		}
	}()
	informer.RunWithContext(ctx)
	return nil
}

// tapped reports each event as it was decoded, before the informer joins what belongs together: a repeated event shows only here.
func tapped(events watch.Interface, out *output) watch.Interface {
	return watch.Filter(events, func(event watch.Event) (watch.Event, bool) {
		report := described(event.Object)
		report.Kind = "watch-event"
		report.Type = string(event.Type)
		out.write(report)
		return event, true
	})
}

func handler(out *output) cache.ResourceEventHandler {
	change := func(kind string, object any) {
		if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
			out.write(line{Kind: "error", Message: fmt.Sprintf("the deletion of %s was missed", unknown.Key)})
			return
		}
		report := described(object)
		report.Kind = "change"
		report.Type = kind
		out.write(report)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { change("ADDED", object) },
		UpdateFunc: func(_, object any) { change("MODIFIED", object) },
		DeleteFunc: func(object any) { change("DELETED", object) },
	}
}

func described(object any) line {
	if status, ok := object.(*metav1.Status); ok {
		return line{Message: status.Message}
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return line{Message: err.Error()}
	}
	return line{
		Name:             metadata.GetName(),
		ResourceVersion:  metadata.GetResourceVersion(),
		InitialEventsEnd: metadata.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true",
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
