//go:build conformance

package conformance

// tools are what the suite wants to call, with the answers that it expects.
var tools = map[string]string{
	"test_simple_text":   `{"content":[{"type":"text","text":"This is a simple text response for testing."}]}`,
	"test_image_content": `{"content":[{"type":"image","data":"` + pixel + `","mimeType":"image/png"}]}`,
	"test_audio_content": `{"content":[{"type":"audio","data":"UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=","mimeType":"audio/wav"}]}`,
	"test_embedded_resource": `{"content":[{"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain",` +
		`"text":"This is an embedded resource content."}}]}`,
	"test_multiple_content_types": `{"content":[{"type":"text","text":"Multiple content types test:"},` +
		`{"type":"image","data":"` + pixel + `","mimeType":"image/png"},{"type":"resource","resource":{"uri":"test://mixed-content-resource",` +
		`"mimeType":"application/json","text":"{\"test\":\"data\",\"value\":123}"}}]}`,
	"test_error_handling":        `{"content":[{"type":"text","text":"This tool intentionally returns an error for testing"}],"isError":true}`,
	"json_schema_2020_12_tool":   `{"content":[{"type":"text","text":"done"}]}`,
	"test_logging_tool":          `{"content":[{"type":"text","text":"done"}]}`,
	"test_streaming_elicitation": `{"content":[{"type":"text","text":"done"}]}`,
	"test_tool_with_progress":    `{"content":[{"type":"text","text":"done"}]}`,
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

// schema is the definition that the suite wants to find unchanged.
const schema = `{"name":"json_schema_2020_12_tool","description":"Tool with JSON Schema 2020-12 features","inputSchema":{` +
	`"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object",` +
	`"properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},` +
	`"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},` +
	`"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":` +
	`{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}}`
