package cuda

// What the tests in package cuda_test need of those in package cuda.
var (
	PretendDevice = device
	SampleSource  = sample
)
