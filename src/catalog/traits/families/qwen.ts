import type { Family } from '../family.ts'

const read = '2026-11-28'
const thinking = 'https://www.alibabacloud.com/help/en/model-studio/deep-thinking'
const forced = 'https://github.com/cloudwego/eino/issues/994'

/**
 * Qwen. The parameters for thinking are those of Alibaba Cloud Model Studio; other servers use different
 * members.
 */
export const qwenFamilies: readonly Family[] = [
  {
    models: /^(?:qwen|qwq)/,
    traits: { output: ['text'] },
    examples: ['qwen3.6-plus', 'qwen-max', 'qwq-plus', 'qwen3-coder-480b-a35b-instruct'],
    sources: ['https://github.com/anomalyco/models.dev/tree/dev/models/alibaba'],
    read,
  },
  {
    models:
      /^qwen(?:3\.[5-9]|[4-9]|-(?:plus|flash|turbo)|3-(?:max|\d+(?:\.\d+)?b))(?!.*(?:thinking|instruct|coder|omni|-vl|-mt|-asr|-tts))/,
    vendors: ['qwen'],
    protocols: ['openai-chat'],
    traits: {
      thinking: 'budget',
      thinkingSwitch: 'enable_thinking',
      thinkingOff: true,
      forcedToolsWhileThinking: false,
    },
    examples: ['qwen3.6-plus', 'qwen3.5-flash', 'qwen4-max', 'qwen-plus', 'qwen3-max', 'qwen3-235b-a22b'],
    sources: [
      thinking,
      forced,
      'https://github.com/QwenLM/qwen-code/issues/8472',
      'https://github.com/BerriAI/litellm/issues/40720',
      'https://github.com/BerriAI/litellm/issues/40959',
    ],
    read,
  },
  {
    models: /^(?:qwq|qvq|qwen3.*-thinking)/,
    vendors: ['qwen'],
    traits: { thinkingOff: false, thinkingDefault: true, forcedToolsWhileThinking: false },
    examples: ['qwq-plus', 'qwen3-235b-a22b-thinking-2507', 'qwen3-next-80b-a3b-thinking'],
    sources: [thinking, forced],
    read,
  },
  {
    models: /^(?:qwen(?:3\.[5-9]|[4-9]|-(?:plus|flash|turbo|max)|3-(?:max|coder)))/,
    vendors: ['qwen'],
    protocols: ['openai-responses', 'anthropic-messages'],
    traits: { forcedToolsWhileThinking: false },
    examples: ['qwen3.6-plus', 'qwen3-max'],
    sources: [forced],
    read,
  },
  {
    models: /^(?:qwen|qwq|qvq)/,
    protocols: ['openai-chat'],
    traits: { severalInstructions: false },
    examples: ['qwen3.6-27b', 'qwen3.5-397b-a17b', 'qwen-plus', 'qwq-32b', 'qvq-72b-preview'],
    sources: [
      'https://huggingface.co/Qwen/Qwen3.5-27B/blob/main/chat_template.jinja',
      'https://github.com/vllm-project/vllm/issues/41114',
      'https://github.com/can1357/oh-my-pi/issues/958',
    ],
    read,
  },
]
