package llm

import "strings"

// unknownWindow is small enough for nearly every model that can call tools, and large enough to work in.
const unknownWindow = 64_000

// windows are the context sizes, in tokens, that makers state for their families of models, by prefixes of the name; the
// longest one counts.
var windows = map[string]int{
	"gpt-3.5":          16_385,
	"gpt-4":            8_192,
	"gpt-4-32k":        32_768,
	"gpt-4-turbo":      128_000,
	"gpt-4-1106":       128_000,
	"gpt-4-0125":       128_000,
	"gpt-4o":           128_000,
	"gpt-4.1":          1_047_576,
	"gpt-4.5":          128_000,
	"gpt-5":            400_000,
	"gpt-oss":          131_072,
	"o1":               200_000,
	"o1-mini":          128_000,
	"o1-preview":       128_000,
	"o3":               200_000,
	"o4":               200_000,
	"claude":           200_000,
	"gemini":           1_048_576,
	"gemini-1.5-pro":   2_097_152,
	"gemma-2":          8_192,
	"gemma-3":          131_072,
	"qwen":             32_768,
	"qwen2.5":          131_072,
	"qwen3":            131_072,
	"qwen3-coder":      262_144,
	"qwen-plus":        131_072,
	"qwen-turbo":       1_000_000,
	"qwen-max":         32_768,
	"qwen-long":        10_000_000,
	"qwq":              131_072,
	"deepseek":         64_000,
	"deepseek-v3.1":    128_000,
	"llama2":           4_096,
	"llama-2":          4_096,
	"llama3":           8_192,
	"llama-3":          8_192,
	"llama3.1":         131_072,
	"llama-3.1":        131_072,
	"llama3.2":         131_072,
	"llama-3.2":        131_072,
	"llama3.3":         131_072,
	"llama-3.3":        131_072,
	"llama-4":          1_048_576,
	"mistral":          32_768,
	"mistral-large":    131_072,
	"mistral-medium":   131_072,
	"mistral-small":    131_072,
	"mixtral":          32_768,
	"codestral":        262_144,
	"devstral":         131_072,
	"glm-4":            131_072,
	"glm-4.6":          204_800,
	"kimi":             131_072,
	"kimi-k2-0905":     262_144,
	"moonshot-v1-8k":   8_192,
	"moonshot-v1-32k":  32_768,
	"moonshot-v1-128k": 131_072,
	"minimax":          204_800,
	"grok":             131_072,
	"grok-4":           262_144,
	"command-r":        128_000,
	"command-a":        262_144,
	"phi-4":            16_384,
	"ernie-4.5":        131_072,
	"doubao-seed-1":    262_144,
	"hunyuan":          32_768,
	"step-":            65_536,
	"yi-":              16_384,
}

// Window returns how many tokens a model's context holds, by its name: the maker's path and the case do not matter
// (openai/GPT-4o). It is 64,000 for models that are not known.
func Window(model string) int {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for n := len(name); n > 0; n-- {
		if size, ok := windows[name[:n]]; ok {
			return size
		}
	}
	return unknownWindow
}
