import type { Schema } from '../../api/client.ts'

export type Vendor = NonNullable<Schema<'ChannelRequest'>['vendor']>

/**
 * Vendors whose formats and addresses the gateway knows (docs/reference/models.md). `own`: a server that one
 * runs oneself.
 */
export const vendors: readonly { vendor: Vendor; title: string; kind: 'vendor' | 'own' }[] = [
  { vendor: 'openai', title: 'OpenAI', kind: 'vendor' },
  { vendor: 'anthropic', title: 'Anthropic', kind: 'vendor' },
  { vendor: 'gemini', title: 'Google Gemini', kind: 'vendor' },
  { vendor: 'azure-openai', title: 'Azure OpenAI', kind: 'vendor' },
  { vendor: 'bedrock', title: 'Amazon Bedrock', kind: 'vendor' },
  { vendor: 'mistral', title: 'Mistral', kind: 'vendor' },
  { vendor: 'deepseek', title: 'DeepSeek', kind: 'vendor' },
  { vendor: 'qwen', title: 'Qwen', kind: 'vendor' },
  { vendor: 'xai', title: 'xAI', kind: 'vendor' },
  { vendor: 'moonshot', title: 'Moonshot', kind: 'vendor' },
  { vendor: 'zai', title: 'Z.ai', kind: 'vendor' },
  { vendor: 'minimax', title: 'MiniMax', kind: 'vendor' },
  { vendor: 'cohere', title: 'Cohere', kind: 'vendor' },
  { vendor: 'groq', title: 'Groq', kind: 'vendor' },
  { vendor: 'cerebras', title: 'Cerebras', kind: 'vendor' },
  { vendor: 'together', title: 'Together', kind: 'vendor' },
  { vendor: 'fireworks', title: 'Fireworks', kind: 'vendor' },
  { vendor: 'nvidia', title: 'NVIDIA', kind: 'vendor' },
  { vendor: 'huggingface', title: 'Hugging Face', kind: 'vendor' },
  { vendor: 'openrouter', title: 'OpenRouter', kind: 'vendor' },
  { vendor: 'litellm', title: 'LiteLLM', kind: 'own' },
  { vendor: 'vllm', title: 'vLLM', kind: 'own' },
  { vendor: 'ollama', title: 'Ollama', kind: 'own' },
  { vendor: 'lmstudio', title: 'LM Studio', kind: 'own' },
  { vendor: 'llamacpp', title: 'llama.cpp', kind: 'own' },
]

/** Formats that a channel may speak. */
export const formats = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'openai-images',
] as const
