import type { VendorName } from '../catalog/traits/vendors.ts'

/**
 * The channel types of new-api that can be carried over. The base URLs of new-api have no version, whereas
 * ours are those of the vendor's own SDK: `path` is what to append to its base URL, by protocol.
 *
 * Numbers, names and base URLs:
 * https://github.com/QuantumNous/new-api/blob/016c88c305ca1285c2faa92a2521dd6b06ec7bc0/constant/channel.go,
 * read 2026-11-23.
 */
export interface ChannelType {
  title: string
  vendor?: VendorName
  /** The base URL used if the channel has none. Undefined if the channel must have one. */
  baseUrl?: string
  path: Readonly<
    Partial<Record<'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini', string>>
  >
}

export const channelTypes: ReadonlyMap<number, ChannelType> = new Map<number, ChannelType>([
  [1, { title: 'OpenAI', baseUrl: 'https://api.openai.com', path: { 'openai-chat': '/v1' } }],
  [
    3,
    {
      title: 'Azure OpenAI',
      vendor: 'azure-openai',
      path: { 'openai-chat': '/openai/v1', 'openai-responses': '/openai/v1' },
    },
  ],
  [4, { title: 'Ollama', vendor: 'ollama', path: { 'openai-chat': '/v1' } }],
  [8, { title: 'Custom', path: { 'openai-chat': '' } }],
  [
    14,
    {
      title: 'Anthropic',
      vendor: 'anthropic',
      baseUrl: 'https://api.anthropic.com',
      path: { 'anthropic-messages': '' },
    },
  ],
  [
    17,
    {
      title: 'Ali',
      vendor: 'qwen',
      baseUrl: 'https://dashscope.aliyuncs.com',
      path: { 'openai-chat': '/compatible-mode/v1' },
    },
  ],
  [
    20,
    {
      title: 'OpenRouter',
      vendor: 'openrouter',
      baseUrl: 'https://openrouter.ai/api',
      path: { 'openai-chat': '/v1' },
    },
  ],
  [
    24,
    {
      title: 'Gemini',
      vendor: 'gemini',
      baseUrl: 'https://generativelanguage.googleapis.com',
      path: { gemini: '/v1beta' },
    },
  ],
  [
    25,
    {
      title: 'Moonshot',
      vendor: 'moonshot',
      baseUrl: 'https://api.moonshot.cn',
      path: { 'openai-chat': '/v1' },
    },
  ],
  [
    26,
    {
      title: 'Zhipu',
      vendor: 'zai',
      baseUrl: 'https://open.bigmodel.cn',
      path: { 'openai-chat': '/api/paas/v4' },
    },
  ],
  [
    40,
    {
      title: 'SiliconFlow',
      baseUrl: 'https://api.siliconflow.cn',
      path: { 'openai-chat': '/v1' },
    },
  ],
  [
    42,
    {
      title: 'Mistral',
      vendor: 'mistral',
      baseUrl: 'https://api.mistral.ai',
      path: { 'openai-chat': '/v1' },
    },
  ],
  [
    43,
    {
      title: 'DeepSeek',
      vendor: 'deepseek',
      baseUrl: 'https://api.deepseek.com',
      path: { 'openai-chat': '/v1' },
    },
  ],
  [
    48,
    {
      title: 'xAI',
      vendor: 'xai',
      baseUrl: 'https://api.x.ai',
      path: { 'openai-chat': '/v1' },
    },
  ],
])

/** The types that speak no supported protocol, from the same sources. */
export const foreignTypes: ReadonlyMap<number, string> = new Map([
  [2, 'Midjourney Proxy'],
  [5, 'Midjourney Proxy Plus'],
  [11, 'PaLM'],
  [15, 'Baidu'],
  [16, 'Zhipu ChatGLM'],
  [18, 'Xunfei'],
  [33, 'AWS Claude'],
  [41, 'Vertex AI'],
  [46, 'Baidu V2'],
])
