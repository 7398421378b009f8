// Package envtest_test is a suite as operators have it: envtest, a manager, a reconciler and a validating webhook. Nothing in it
// is about Straddle.
package envtest_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const patience = 60 * time.Second

var (
	environment *envtest.Environment
	config      *rest.Config
	widgetKind  = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
)

func TestMain(m *testing.M) {
	path, fail, none := "/validate", admissionv1.Fail, admissionv1.SideEffectClassNone
	environment = &envtest.Environment{
		CRDDirectoryPaths:     []string{"config/crd"},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{{
				ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
				Webhooks: []admissionv1.ValidatingWebhook{{
					Name:                    "widgets.example.com",
					AdmissionReviewVersions: []string{"v1"},
					FailurePolicy:           &fail,
					SideEffects:             &none,
					ClientConfig: admissionv1.WebhookClientConfig{
						Service: &admissionv1.ServiceReference{Name: "webhook", Namespace: "default", Path: &path},
					},
					Rules: []admissionv1.RuleWithOperations{{
						Operations: []admissionv1.OperationType{admissionv1.Create},
						Rule: admissionv1.Rule{
							APIGroups:   []string{"example.com"},
							APIVersions: []string{"v1"},
							Resources:   []string{"widgets"},
						},
					}},
				}},
			}},
		},
	}
	var err error
	if config, err = environment.Start(); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := environment.Stop(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// doubler writes twice the size of a Widget into its status, and keeps a ConfigMap for it.
type doubler struct{ client.Client }

func (d doubler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := newWidget(request.Namespace, request.Name)
	if err := d.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	size, _, err := unstructured.NestedInt64(widget.Object, "spec", "size")
	if err != nil {
		return ctrl.Result{}, err
	}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	if err := ctrl.SetControllerReference(widget, kept, d.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	if err := d.Create(ctx, kept); err != nil && !apierrors.IsAlreadyExists(err) {
		return ctrl.Result{}, err
	}
	if err := unstructured.SetNestedField(widget.Object, 2*size, "status", "doubled"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, d.Status().Update(ctx, widget)
}

func validate(_ context.Context, request admission.Request) admission.Response {
	widget := &unstructured.Unstructured{}
	if err := widget.UnmarshalJSON(request.Object.Raw); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size"); size > 10 {
		return admission.Denied("too big")
	}
	return admission.Allowed("")
}

func TestReconcilerAndWebhook(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options := environment.WebhookInstallOptions
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:    options.LocalServingHost,
			Port:    options.LocalServingPort,
			CertDir: options.LocalServingCertDir,
		}),
	})
	check(t, err)
	manager.GetWebhookServer().Register("/validate", &webhook.Admission{Handler: admission.HandlerFunc(validate)})
	widgets := &unstructured.Unstructured{}
	widgets.SetGroupVersionKind(widgetKind)
	check(t, ctrl.NewControllerManagedBy(manager).Named("doubler").For(widgets).Owns(&corev1.ConfigMap{}).
		Complete(doubler{manager.GetClient()}))
	stopped := make(chan error, 1)
	go func() { stopped <- manager.Start(ctx) }()

	direct, err := client.New(config, client.Options{})
	check(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}
	check(t, direct.Create(ctx, namespace))

	small := newWidget(namespace.Name, "small")
	check(t, unstructured.SetNestedField(small.Object, int64(3), "spec", "size"))
	eventually(t, ctx, "the webhook answers", func() bool {
		err := direct.Create(ctx, small.DeepCopy())
		if err != nil {
			t.Log(err)
		}
		return err == nil
	})
	eventually(t, ctx, "the status is written", func() bool {
		found := newWidget(namespace.Name, "small")
		if direct.Get(ctx, client.ObjectKeyFromObject(found), found) != nil {
			return false
		}
		doubled, _, _ := unstructured.NestedInt64(found.Object, "status", "doubled")
		return doubled == 6
	})

	big := newWidget(namespace.Name, "big")
	check(t, unstructured.SetNestedField(big.Object, int64(11), "spec", "size"))
	if err := direct.Create(ctx, big); !apierrors.IsForbidden(err) {
		t.Fatalf("the webhook let a widget pass that is too big: %v", err)
	}

	check(t, direct.Delete(ctx, newWidget(namespace.Name, "small")))
	eventually(t, ctx, "the ConfigMap is collected", func() bool {
		kept := &corev1.ConfigMap{}
		return apierrors.IsNotFound(direct.Get(ctx, client.ObjectKey{Namespace: namespace.Name, Name: "small"}, kept))
	})
	cancel()
	check(t, <-stopped)
}

func newWidget(namespace, name string) *unstructured.Unstructured {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(widgetKind)
	widget.SetNamespace(namespace)
	widget.SetName(name)
	return widget
}

func eventually(t *testing.T, ctx context.Context, what string, isTrue func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return isTrue(), nil
	})
	if err != nil {
		t.Fatalf("%s: not within %s", what, patience)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
