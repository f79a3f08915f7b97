package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/compiler"

// Code returns what the compiler made.
func (p *Program) Code() *compiler.Program { return p.code }
