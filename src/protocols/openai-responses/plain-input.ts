import type { PlainPlace } from '../hidden-input.ts'

// Everything that contains all of its input in the body. test/protocols/hidden-input.test.ts compares this
// list with the types of `openai`.

const parts: PlainPlace = {
  text: true,
  types: ['input_text', 'output_text', 'refusal', 'reasoning_text', 'text'],
  members: {
    type: 'data',
    text: 'data',
    refusal: 'data',
    annotations: 'data',
    logprobs: 'data',
    prompt_cache_breakpoint: 'data',
  },
}

const toolMembers = {
  type: 'data',
  name: 'data',
  description: 'data',
  parameters: 'data',
  output_schema: 'data',
  format: 'data',
  strict: 'data',
  async: 'data',
  allowed_callers: 'data',
  defer_loading: 'data',
} as const

const tools: PlainPlace = {
  types: ['function', 'custom', 'namespace', 'local_shell', 'apply_patch'],
  members: { ...toolMembers, tools: { types: ['function', 'custom'], members: toolMembers } },
}

const items: PlainPlace = {
  text: true,
  types: [
    'message',
    'reasoning',
    'function_call',
    'function_call_output',
    'custom_tool_call',
    'custom_tool_call_output',
    'local_shell_call',
    'local_shell_call_output',
    'apply_patch_call',
    'apply_patch_call_output',
    'additional_tools',
  ],
  // A reference does not need a type, and the vendor stores the reasoning that a client sends back without
  // its text.
  ownOf: { '': ['content'], message: ['content'], reasoning: ['content', 'encrypted_content'] },
  members: {
    type: 'data',
    id: 'data',
    role: 'data',
    status: 'data',
    phase: 'data',
    content: parts,
    summary: 'data',
    encrypted_content: 'data',
    call_id: 'data',
    name: 'data',
    namespace: 'data',
    caller: 'data',
    async: 'data',
    arguments: 'data',
    input: 'data',
    action: 'data',
    operation: 'data',
    output: parts,
    tools,
  },
}

export const plainInput: PlainPlace = {
  members: {
    model: 'data',
    input: items,
    instructions: { text: true, members: {} },
    tools,
    tool_choice: 'data',
    parallel_tool_calls: 'data',
    max_tool_calls: 'data',
    access_programs: 'data',
    // Codex puts labels for its requests here.
    client_metadata: 'data',
    background: 'data',
    // How images are compressed.
    image: 'data',
    include: 'data',
    max_output_tokens: 'data',
    metadata: 'data',
    moderation: 'data',
    prompt_cache_key: 'data',
    prompt_cache_options: 'data',
    prompt_cache_retention: 'data',
    reasoning: 'data',
    safety_identifier: 'data',
    service_tier: 'data',
    store: 'data',
    stream: 'data',
    stream_options: 'data',
    temperature: 'data',
    text: 'data',
    top_logprobs: 'data',
    top_p: 'data',
    truncation: 'data',
    user: 'data',
  },
}
