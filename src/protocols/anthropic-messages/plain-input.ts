import type { PlainPlace } from '../hidden-input.ts'

// Everything that contains all of its input in the body. test/protocols/hidden-input.test.ts compares this
// list with the types of `@anthropic-ai/sdk`.

const blockMembers = {
  type: 'data',
  text: 'data',
  citations: 'data',
  cache_control: 'data',
} as const

/** The results of a client's tool: text, if the content is plain. */
const results: PlainPlace = { text: true, types: ['text'], members: blockMembers }

const blocks: PlainPlace = {
  text: true,
  types: ['text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result'],
  members: {
    ...blockMembers,
    thinking: 'data',
    signature: 'data',
    data: 'data',
    id: 'data',
    name: 'data',
    input: 'data',
    caller: 'data',
    toolset_name: 'data',
    tool_use_id: 'data',
    is_error: 'data',
    content: results,
  },
}

const messages: PlainPlace = {
  members: { role: 'data', content: blocks, clear_at: 'data', output_config: 'data' },
}

/** Tools that the client runs. The vendor adds only a short description of how to use them. */
const tools: PlainPlace = {
  types: [
    'custom',
    'bash_20241022',
    'bash_20250124',
    'memory_20250818',
    'text_editor_20241022',
    'text_editor_20250124',
    'text_editor_20250429',
    'text_editor_20250728',
  ],
  members: {
    type: 'data',
    name: 'data',
    description: 'data',
    input_schema: 'data',
    input_examples: 'data',
    strict: 'data',
    allowed_callers: 'data',
    cache_control: 'data',
    defer_loading: 'data',
    eager_input_streaming: 'data',
    max_characters: 'data',
  },
}

export const plainInput: PlainPlace = {
  members: {
    model: 'data',
    messages,
    system: results,
    tools,
    tool_choice: 'data',
    max_tokens: 'data',
    stream: 'data',
    stop_sequences: 'data',
    temperature: 'data',
    top_k: 'data',
    top_p: 'data',
    thinking: 'data',
    metadata: 'data',
    // If a thread is continued, its conversation is not in the body.
    thread: { types: ['create'], members: { type: 'data' } },
    cache_control: 'data',
    context_management: 'data',
    output_config: 'data',
    output_format: 'data',
    service_tier: 'data',
    speed: 'data',
    inference_geo: 'data',
    billing_policy: 'data',
    diagnostics: 'data',
    fallback_credit_token: 'data',
    betas: 'data',
    user_profile_id: 'data',
    workspace_id: 'data',
  },
}
