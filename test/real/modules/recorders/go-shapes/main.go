// Prints, for every type of the API, which fields are pointers to scalars and which are always written: facts of encoding
// that OpenAPI leaves out. Run by record-go-shapes.ts.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
	agg "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type info struct {
	Pointers []string `json:"pointers,omitempty"`
	Always   []string `json:"always,omitempty"`
}

var out = map[string]*info{}

func name(t reflect.Type) string {
	p := strings.ReplaceAll(t.PkgPath(), "/", ".")
	p = strings.TrimPrefix(p, "k8s.io.")
	return "io.k8s." + p + "." + t.Name()
}

func visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		visit(t.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	n := name(t)
	if out[n] != nil {
		return
	}
	i := &info{}
	out[n] = i
	fields(t, i)
	sort.Strings(i.Pointers)
	sort.Strings(i.Always)
}

func fields(t reflect.Type, i *info) {
	for k := 0; k < t.NumField(); k++ {
		f := t.Field(k)
		tag := f.Tag.Get("json")
		parts := strings.Split(tag, ",")
		if f.Anonymous && parts[0] == "" {
			ft := f.Type
			if ft.Kind() == reflect.Pointer {
				ft = ft.Elem()
			}
			if ft.Kind() != reflect.Struct {
				continue
			}
			fields(ft, i)
			for k := 0; k < ft.NumField(); k++ {
				visit(ft.Field(k).Type)
			}
			continue
		}
		if parts[0] == "" || parts[0] == "-" {
			continue
		}
		omitempty, omitzero := false, false
		for _, p := range parts[1:] {
			omitempty = omitempty || p == "omitempty"
			omitzero = omitzero || p == "omitzero"
		}
		if f.Type.Kind() == reflect.Pointer {
			switch f.Type.Elem().Kind() {
			case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Int, reflect.Float64:
				if omitempty {
					i.Pointers = append(i.Pointers, parts[0])
				}
			}
		}
		written := !omitempty && !omitzero
		if f.Type.Kind() == reflect.Struct && !omitzero {
			written = true
		}
		if written {
			i.Always = append(i.Always, parts[0]+":"+f.Type.Kind().String()+":"+f.Type.String())
		}
		visit(f.Type)
	}
}

func main() {
	agg.AddToScheme(scheme.Scheme)
	apiext.AddToScheme(scheme.Scheme)
	for _, t := range scheme.Scheme.AllKnownTypes() {
		visit(t)
	}
	for n, i := range out {
		if len(i.Pointers)+len(i.Always) == 0 {
			delete(out, n)
		}
	}
	b, _ := json.MarshalIndent(out, "", " ")
	os.Stdout.Write(b)
	fmt.Println()
}
