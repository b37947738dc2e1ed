import type { Vendor } from '../vendor.ts'

const read = '2026-11-22'
const piCompat = 'https://github.com/earendil-works/pi/blob/main/packages/ai/src/api/openai-completions.ts'

/** Companies that serve models made by others. */
export const hosts = {
  'azure-openai': {
    title: 'Azure OpenAI and Microsoft Foundry',
    baseUrls: {},
    where: {
      'openai-chat': 'https://your-resource.services.ai.azure.com/openai/v1',
      'openai-responses': 'https://your-resource.services.ai.azure.com/openai/v1',
    },
    traits: {},
    sources: [
      'https://learn.microsoft.com/en-us/azure/foundry/openai/api-version-lifecycle',
      'https://ai-sdk.dev/v5/providers/ai-sdk-providers/azure.md',
    ],
    read,
  },
  bedrock: {
    title: 'Amazon Bedrock',
    baseUrls: {},
    where: {
      'openai-chat': 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1',
      'openai-responses': 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1',
      'anthropic-messages': 'https://bedrock-runtime.{region}.amazonaws.com/anthropic',
    },
    traits: {},
    sources: [
      'https://docs.aws.amazon.com/bedrock/latest/userguide/endpoints.html',
      'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html',
      'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html',
    ],
    read: '2026-11-30',
  },
  groq: {
    title: 'Groq',
    baseUrls: {
      'openai-chat': 'https://api.groq.com/openai/v1',
      'openai-responses': 'https://api.groq.com/openai/v1',
    },
    traits: {
      'openai-chat': {
        choicesMax: 1,
        customTools: false,
        toolsWithFormat: false,
        takes: { logprobs: false, logitBias: false, topK: false },
      },
    },
    sources: ['https://console.groq.com/docs/openai', 'https://github.com/vercel/ai/pull/16540', piCompat],
    read,
  },
  cerebras: {
    title: 'Cerebras',
    baseUrls: { 'openai-chat': 'https://api.cerebras.ai/v1' },
    traits: {
      'openai-chat': {
        developerRole: false,
        customTools: false,
        toolsWithFormat: false,
        takes: { frequencyPenalty: false, presencePenalty: false, logitBias: false, store: false },
      },
    },
    sources: [
      'https://www.developersdigest.tech/reference/api-compatibility/cerebras',
      'https://repo.hex.pm/preview/req_llm/1.10.0/guides/cerebras.md',
      'https://reference-server.pipecat.ai/en/latest/api/pipecat.services.cerebras.llm.html',
      'https://github.com/BerriAI/litellm/issues/31333',
      piCompat,
    ],
    read,
  },
  together: {
    title: 'Together AI',
    baseUrls: { 'openai-chat': 'https://api.together.ai/v1' },
    traits: {
      'openai-chat': {
        outputBound: 'max_tokens',
        developerRole: false,
        customTools: false,
        strictTools: false,
        takes: { store: false },
      },
    },
    sources: ['https://www.developersdigest.tech/reference/api-compatibility/together', piCompat],
    read,
  },
  fireworks: {
    title: 'Fireworks AI',
    baseUrls: {
      'openai-chat': 'https://api.fireworks.ai/inference/v1',
      'openai-responses': 'https://api.fireworks.ai/inference/v1',
      'anthropic-messages': 'https://api.fireworks.ai/inference',
    },
    traits: { 'openai-chat': { customTools: false } },
    sources: [
      'https://docs.fireworks.ai/tools-sdks/anthropic-compatibility',
      'https://docs.fireworks.ai/nexus/apis-and-sdks',
      'https://www.developersdigest.tech/reference/api-compatibility/fireworks',
      piCompat,
    ],
    read,
  },
  nvidia: {
    title: 'NVIDIA NIM',
    baseUrls: { 'openai-chat': 'https://integrate.api.nvidia.com/v1' },
    traits: {
      'openai-chat': {
        outputBound: 'max_tokens',
        developerRole: false,
        customTools: false,
        strictTools: false,
        takes: { store: false },
      },
    },
    sources: ['https://github.com/anomalyco/models.dev/blob/dev/providers/nvidia/provider.toml', piCompat],
    read,
  },
  huggingface: {
    title: 'Hugging Face Inference Providers',
    baseUrls: { 'openai-chat': 'https://router.huggingface.co/v1' },
    traits: { 'openai-chat': { customTools: false } },
    sources: [
      'https://github.com/anomalyco/models.dev/blob/dev/providers/huggingface/provider.toml',
      piCompat,
    ],
    read,
  },
  openrouter: {
    title: 'OpenRouter',
    baseUrls: {
      'openai-chat': 'https://openrouter.ai/api/v1',
      'openai-responses': 'https://openrouter.ai/api/v1',
      'anthropic-messages': 'https://openrouter.ai/api',
    },
    traits: {
      'openai-chat': {
        developerRole: false,
        customTools: false,
        caching: 'marks',
        takes: { cacheKey: true },
      },
    },
    sources: [
      'https://openrouter.ai/docs/api-reference/overview',
      'https://openrouter.ai/docs/guides/best-practices/prompt-caching',
      'https://docs.getbifrost.ai/providers/supported-providers/openrouter',
      'https://hexdocs.pm/openrouter_sdk/OpenrouterSdk.Api.Messages.html',
      piCompat,
    ],
    read,
  },
} as const satisfies Record<string, Vendor>
