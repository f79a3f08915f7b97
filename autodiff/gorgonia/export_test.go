package gorgonia

// What the tests of graphs read of a node.
var (
	Arguments = children
	ReadValue = readValue
	MakeValue = makeValue
)
