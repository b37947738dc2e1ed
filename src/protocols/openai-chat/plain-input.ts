import type { PlainPlace } from '../hidden-input.ts'

// Everything that contains all of its input in the body. test/protocols/hidden-input.test.ts compares this
// list with the types of `openai`. The members of other vendors are those read in decode-*.ts and written in
// our own answers.

const parts: PlainPlace = {
  text: true,
  types: ['text', 'refusal'],
  members: {
    type: 'data',
    text: 'data',
    refusal: 'data',
    prompt_cache_breakpoint: 'data',
    cache_control: 'data',
  },
}

const calls: PlainPlace = {
  types: ['function', 'custom'],
  members: {
    type: 'data',
    id: 'data',
    index: 'data',
    function: { members: { name: 'data', arguments: 'data' } },
    custom: { members: { name: 'data', input: 'data' } },
  },
}

const messages: PlainPlace = {
  members: {
    role: 'data',
    content: parts,
    name: 'data',
    refusal: 'data',
    tool_call_id: 'data',
    tool_calls: calls,
    function_call: { members: { name: 'data', arguments: 'data' } },
    annotations: 'data',
    reasoning: 'data',
    reasoning_content: 'data',
    reasoning_details: 'data',
    cache_control: 'data',
  },
}

const functionMembers = { name: 'data', description: 'data', parameters: 'data', strict: 'data' } as const

const tools: PlainPlace = {
  types: ['function', 'custom'],
  members: {
    type: 'data',
    function: { members: { ...functionMembers, cache_control: 'data' } },
    custom: { members: { name: 'data', description: 'data', format: 'data' } },
    cache_control: 'data',
  },
}

/** Settings of endpoints that take text and return results in any form. */
const settings = {
  model: 'data',
  user: 'data',
  stream: 'data',
  stream_options: 'data',
  max_tokens: 'data',
  n: 'data',
  seed: 'data',
  stop: 'data',
  logprobs: 'data',
  logit_bias: 'data',
  temperature: 'data',
  top_p: 'data',
  frequency_penalty: 'data',
  presence_penalty: 'data',
} as const

export const plainInput: PlainPlace = {
  members: {
    ...settings,
    messages,
    tools,
    functions: { members: functionMembers },
    prediction: { types: ['content'], members: { type: 'data', content: parts } },
    // The voice and the form of an answer.
    audio: 'data',
    modalities: 'data',
    moderation: 'data',
    response_format: 'data',
    verbosity: 'data',
    max_completion_tokens: 'data',
    top_logprobs: 'data',
    top_k: 'data',
    function_call: 'data',
    tool_choice: 'data',
    parallel_tool_calls: 'data',
    reasoning: 'data',
    reasoning_effort: 'data',
    thinking: 'data',
    thinking_budget: 'data',
    enable_thinking: 'data',
    metadata: 'data',
    prompt_cache_key: 'data',
    prompt_cache_options: 'data',
    prompt_cache_retention: 'data',
    safety_identifier: 'data',
    service_tier: 'data',
    store: 'data',
  },
}

/** The input of endpoints that are only passed through. */
export const plainTexts: PlainPlace = {
  members: {
    ...settings,
    input: { text: true, types: ['text'], members: { type: 'data', text: 'data' } },
    prompt: { text: true, members: {} },
    suffix: 'data',
    best_of: 'data',
    echo: 'data',
    dimensions: 'data',
    encoding_format: 'data',
    voice: 'data',
    instructions: 'data',
    response_format: 'data',
    speed: 'data',
    stream_format: 'data',
  },
}
