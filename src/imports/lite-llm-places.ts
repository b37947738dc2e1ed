import type { VendorName } from '../catalog/traits/vendors.ts'

/**
 * The LiteLLM providers (the part of `model` before the slash) that speak a protocol supported by Tollgate.
 * https://docs.litellm.ai/docs/providers and https://docs.litellm.ai/docs/proxy/configs, read 2026-11-23.
 */
export interface Provider {
  vendor?: VendorName
  /**
   * The protocols that it speaks at its `api_base`, each with the path to append. Not used where the vendor's
   * default address applies.
   */
  at: Readonly<Partial<Record<'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini', string>>>
}

const chat = { 'openai-chat': '' }

export const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  ['openai', { vendor: 'openai', at: chat }],
  ['anthropic', { vendor: 'anthropic', at: { 'anthropic-messages': '' } }],
  ['gemini', { vendor: 'gemini', at: { gemini: '/v1beta' } }],
  ['mistral', { vendor: 'mistral', at: chat }],
  ['deepseek', { vendor: 'deepseek', at: chat }],
  ['dashscope', { vendor: 'qwen', at: chat }],
  ['xai', { vendor: 'xai', at: chat }],
  ['moonshot', { vendor: 'moonshot', at: chat }],
  ['zai', { vendor: 'zai', at: chat }],
  ['cohere', { vendor: 'cohere', at: chat }],
  ['cohere_chat', { vendor: 'cohere', at: chat }],
  [
    'azure',
    { vendor: 'azure-openai', at: { 'openai-chat': '/openai/v1', 'openai-responses': '/openai/v1' } },
  ],
  ['groq', { vendor: 'groq', at: chat }],
  ['cerebras', { vendor: 'cerebras', at: chat }],
  ['together_ai', { vendor: 'together', at: chat }],
  ['fireworks_ai', { vendor: 'fireworks', at: chat }],
  ['nvidia_nim', { vendor: 'nvidia', at: chat }],
  ['openrouter', { vendor: 'openrouter', at: chat }],
  ['litellm_proxy', { vendor: 'litellm', at: chat }],
  ['hosted_vllm', { vendor: 'vllm', at: chat }],
  ['ollama', { vendor: 'ollama', at: { 'openai-chat': '/v1' } }],
  ['ollama_chat', { vendor: 'ollama', at: { 'openai-chat': '/v1' } }],
  ['lm_studio', { vendor: 'lmstudio', at: chat }],
  ['custom_openai', { at: chat }],
  ['openai_like', { at: chat }],
])
