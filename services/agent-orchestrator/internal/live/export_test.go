package live

// For the fuzz test.
var (
	Encode = encode
	Decode = decode
)
