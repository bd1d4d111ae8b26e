package errs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// Every constant of type Reason has its row, and every row its constant.
func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Reason" {
				text := spec.Values[0].(*ast.BasicLit).Value
				declared[text[1:len(text)-1]] = true
			}
		}
		return true
	})
	if len(declared) == 0 {
		t.Fatal("no constant found: reason.go has changed its form")
	}
	for name := range declared {
		if !Reason(name).Known() {
			t.Errorf("%s has no row", name)
		}
	}
	for reason, row := range table {
		if !declared[string(reason)] {
			t.Errorf("the row of %s has no constant", reason)
		}
		if row.class == "" || row.http == 0 || row.grpc == 0 || row.title == "" {
			t.Errorf("the row of %s has a gap: %+v", reason, row)
		}
	}
}
