// Prints the fields of kube-apiserver's own types, in order: some of its messages print values in that form. Run by
// record-go-shapes.ts.
package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	core "k8s.io/kubernetes/pkg/apis/core"
)

var lines = map[string]string{}

func internal(t reflect.Type) bool {
	return strings.HasSuffix(t.PkgPath(), "kubernetes/pkg/apis/core")
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Struct && internal(t.Elem()) {
			visit(t.Elem())
			return "p" + t.Elem().Name()
		}
		return "x"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct && internal(t.Elem()) {
			visit(t.Elem())
			return "l" + t.Elem().Name()
		}
		return "x"
	case reflect.Map, reflect.Interface:
		return "x"
	case reflect.Struct:
		switch t.Name() {
		case "Quantity":
			return "q"
		case "IntOrString":
			return "n"
		}
		if internal(t) {
			visit(t)
			return "o" + t.Name()
		}
		return "x"
	case reflect.String:
		return "s"
	case reflect.Bool:
		return "b"
	default:
		return "n"
	}
}

func fields(t reflect.Type) []string {
	var out []string
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if internal(f.Type) {
				out = append(out, fields(f.Type)...)
			} else {
				out = append(out, "..."+f.Name)
			}
			continue
		}
		out = append(out, f.Name+":"+kindOf(f.Type))
	}
	return out
}

func visit(t reflect.Type) {
	if _, ok := lines[t.Name()]; ok {
		return
	}
	lines[t.Name()] = ""
	lines[t.Name()] = strings.Join(fields(t), " ")
}

func main() {
	for _, v := range []any{core.PodTemplateSpec{}, core.PodSpec{}, core.EphemeralContainer{}, core.PersistentVolumeClaimSpec{}, core.PersistentVolumeSource{}} {
		visit(reflect.TypeOf(v))
	}
	names := []string{}
	for n := range lines {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Println(n, lines[n])
	}
}
