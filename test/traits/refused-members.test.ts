import { describe, expect, test } from 'vitest'
import { mergeTraits, type Traits } from '../../src/canonical/traits.ts'
import { refusedMembers } from '../../src/catalog/traits/refused-members.ts'
import { sentMembers } from '../../src/catalog/traits/sent-members.ts'
import { traitChange } from '../../src/catalog/traits/trait-change.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import { errorOfKind } from '../support/error-of-kind.ts'

/** Real refusals, as users reported them, and the traits that follow. All read on 2026-11-22. */

interface Real {
  source: string
  protocol?: ProtocolName
  status?: number
  answer: unknown
  /** What had been sent, beside the conversation. */
  sent: Record<string, unknown>
  subjects: string[]
  traits: Traits
}

const openai = (message: string, param: string | null, code: string | null) => ({
  error: { message, type: 'invalid_request_error', param, code },
})
const anthropic = (message: string) => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
  request_id: 'req_1',
})
const gemini = (message: string) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } })
const deepseek = (message: string) => openai(message, null, 'invalid_request_error')
const effort = (...effortLevels: NonNullable<Traits['effortLevels']>): Traits => ({ effortLevels })
const drops = (...names: (keyof NonNullable<Traits['takes']>)[]): Traits => ({
  takes: Object.fromEntries(names.map((name) => [name, false])),
})

const oneInstruction = (source: string, answer: unknown, status = 400): Real => ({
  ...{ source, answer, status, sent: {} },
  subjects: ['messages.role.system'],
  traits: { severalInstructions: false },
})
const oneText = (source: string, answer: unknown, status = 400): Real => ({
  ...{ source, answer, status, sent: {} },
  subjects: ['messages.content'],
  traits: { textParts: false },
})

const real: Real[] = [
  oneInstruction('https://github.com/vllm-project/vllm/issues/41114', {
    error: { message: 'System message must be at the beginning.', type: 'BadRequestError', code: 400 },
  }),
  oneInstruction(
    'https://github.com/tailcallhq/forgecode/issues/3128',
    { error: 'System message must be at the beginning.' },
    404,
  ),
  oneInstruction('https://github.com/ggml-org/llama.cpp/issues/20733', {
    error: {
      code: 400,
      message:
        "Unable to generate parser for this template. Automatic parser generation failed: \n------------\nWhile executing CallExpression at line 85, column 32\nin source:\n...first %}↵            {{- raise_exception('System message must be at the beginnin...\n                                           ^\nError: Jinja Exception: System message must be at the beginning.",
      type: 'invalid_request_error',
    },
  }),
  oneInstruction(
    'https://github.com/zxypro1/algolocal/pull/17',
    { error: { code: 500, message: 'system message must be at the beginning', type: 'server_error' } },
    500,
  ),
  oneText('https://github.com/microsoft/PyRIT/issues/704', {
    error: { message: "'messages.0.content' must be a string", type: 'invalid_request_error' },
  }),
  oneText('https://github.com/earendil-works/pi/pull/1574', {
    error: { message: 'Message content as a list is only supported for user messages.' },
  }),
  oneText(
    'https://github.com/router-for-me/CLIProxyAPI/issues/3056',
    { error: { message: 'sequence item 0: expected str instance, list found', type: 'server_error' } },
    500,
  ),
  oneText('https://github.com/Kilo-Org/kilocode/issues/4377', {
    detail:
      "6 validation errors for SystemMessage\ncontent.str\nInput should be a valid string [type=string_type, input_value=[{'text': 'x'}], input_type=list]",
  }),
  {
    source: 'https://github.com/ITSpecialist111/ai_automation_suggester/issues/38',
    answer: openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    ),
    sent: { max_tokens: 100 },
    subjects: ['max_tokens'],
    traits: { outputBound: 'max_completion_tokens' },
  },
  {
    source: 'https://github.com/editor-code-assistant/eca/issues/231',
    status: 422,
    answer: {
      object: 'error',
      message: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'max_completion_tokens'],
            msg: 'Extra inputs are not permitted',
            input: 32000,
          },
        ],
      },
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
    sent: { max_completion_tokens: 32000 },
    subjects: ['max_completion_tokens'],
    traits: { outputBound: 'max_tokens' },
  },
  {
    source: 'https://github.com/Gitlawb/openclaude/issues/739',
    status: 422,
    answer: {
      detail: [
        {
          type: 'extra_forbidden',
          loc: ['body', 'store'],
          msg: 'Extra inputs are not permitted',
          input: false,
        },
        {
          type: 'extra_forbidden',
          loc: ['body', 'max_completion_tokens'],
          msg: 'Extra inputs are not permitted',
          input: 8192,
        },
      ],
    },
    sent: { store: false, max_completion_tokens: 8192 },
    subjects: ['store', 'max_completion_tokens'],
    traits: { takes: { store: false }, outputBound: 'max_tokens' },
  },
  {
    source: 'https://github.com/mistralai/platform-docs-public/issues/7',
    status: 422,
    answer: {
      object: 'error',
      message:
        '{"detail":[{"type":"extra_forbidden","loc":["body","frequency_penalty"],"msg":"Extra inputs are not permitted","input":0.0,"url":"https://errors.pydantic.dev/2.5/v/extra_forbidden"}]}',
      type: 'internal_error_proxy',
      param: null,
      code: '1000',
    },
    sent: { frequency_penalty: 0 },
    subjects: ['frequency_penalty'],
    traits: drops('frequencyPenalty'),
  },
  {
    source: 'https://github.com/1Panel-dev/MaxKB/issues/2912',
    answer: {
      object: 'error',
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 800}]",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    sent: { max_completion_tokens: 800 },
    subjects: ['max_completion_tokens'],
    traits: { outputBound: 'max_tokens' },
  },
  {
    source: 'https://github.com/johny-b/llmcomp/issues/69',
    answer: openai(
      "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
      'temperature',
      'unsupported_value',
    ),
    sent: { temperature: 0 },
    subjects: ['temperature'],
    traits: drops('temperature'),
  },
  {
    source: 'https://github.com/Kilo-Org/cloud/pull/3807',
    answer: {
      error: {
        message:
          "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
        type: 'invalid_request_error',
      },
    },
    sent: { reasoning_effort: 'none' },
    subjects: ['reasoning_effort=none'],
    traits: effort('minimal', 'low', 'medium', 'high'),
  },
  {
    source: 'https://github.com/nextai-translator/nextai-translator/issues/1879',
    answer: deepseek(
      'Failed to deserialize the JSON body into the target type: reasoning_effort: unknown variant `none`, expected one of `high`, `low`, `medium`, `max`, `xhigh` at line 1 column 68',
    ),
    sent: { reasoning_effort: 'none' },
    subjects: ['reasoning_effort=none'],
    traits: effort('low', 'medium', 'high', 'xhigh', 'max'),
  },
  {
    source: 'https://github.com/egoist/chatwise-releases/issues/1325',
    answer: {
      message:
        "1 validation error for ChatCompletionServerRequest\nreasoning_effort\n Input should be 'low', 'medium' or 'high' [type=enum, input_value='none', input_type=str]\n For further information visit https://errors.pydantic.dev/2.8/v/enum",
      type: 'invalid_request_error',
      param: 'validation_error',
      code: 'wrong_api_format',
      id: '',
    },
    sent: { reasoning_effort: 'none' },
    subjects: ['reasoning_effort=none'],
    traits: effort('low', 'medium', 'high'),
  },
  {
    source: 'https://github.com/davidmigloz/langchain_dart/issues/712',
    answer: openai('Unrecognized request argument supplied: reasoning_effort', null, null),
    sent: { reasoning_effort: 'high' },
    subjects: ['reasoning_effort'],
    traits: { thinking: 'none' },
  },
  {
    source: 'https://github.com/BerriAI/litellm/pull/16265',
    answer: {
      code: 'Client specified an invalid argument',
      error: 'Model grok-4-latest does not support parameter reasoningEffort.',
    },
    sent: { reasoning_effort: 'high' },
    subjects: ['reasoning_effort'],
    traits: { thinking: 'none' },
  },
  {
    source: 'https://github.com/yym68686/uni-api/issues/105',
    answer: {
      code: 'Client specified an invalid argument',
      error: 'Argument not supported on this model: presencePenalty',
    },
    sent: { presence_penalty: 0 },
    subjects: ['presence_penalty'],
    traits: drops('presencePenalty'),
  },
  {
    source: 'https://github.com/evalstate/fast-agent/issues/279',
    answer: openai(
      "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
      'parallel_tool_calls',
      'unsupported_parameter',
    ),
    sent: { tools: [], parallel_tool_calls: false },
    subjects: ['parallel_tool_calls'],
    traits: drops('parallelToolCalls'),
  },
  {
    source: 'https://github.com/agno-agi/agno/issues/4508',
    answer: {
      message: 'parallel_tool_calls=False is not supported by this model.',
      type: 'invalid_request_error',
      param: 'parallel_tool_calls',
      code: 'wrong_api_format',
    },
    sent: { tools: [], parallel_tool_calls: false },
    subjects: ['parallel_tool_calls'],
    traits: drops('parallelToolCalls'),
  },
  {
    source: 'https://github.com/skye-harris/hass_local_openai_llm/issues/59',
    answer: {
      error: {
        message: '`metadata` is not supported with this model',
        type: 'invalid_request_error',
        param: 'metadata',
      },
    },
    sent: { metadata: { temperature: 'hot' } },
    subjects: ['metadata'],
    traits: drops('metadata'),
  },
  {
    source: 'https://github.com/proma-ai/Proma/issues/1496',
    answer: {
      message:
        "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.[0].role'",
      type: 'invalid_request_error',
    },
    sent: {},
    subjects: ['messages.role.developer'],
    traits: { developerRole: false },
  },
  {
    source: 'https://github.com/decolua/9router/issues/773',
    answer: deepseek(
      'Failed to deserialize the JSON body into the target type: messages[1].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`, `latest_reminder` at line 1 column 51036',
    ),
    sent: {},
    subjects: ['messages.role.developer'],
    traits: { developerRole: false },
  },
  {
    source: 'https://github.com/n4ze3m/page-assist/issues/418',
    answer: [gemini('Invalid JSON payload received. Unknown name "frequency_penalty": Cannot find field.')],
    sent: { frequency_penalty: 0.5 },
    subjects: ['frequency_penalty'],
    traits: drops('frequencyPenalty'),
  },
  {
    source: 'https://github.com/pydantic/pydantic-ai/issues/2865',
    protocol: 'openai-responses',
    answer: openai('Encrypted content is not supported with this model.', 'include', null),
    sent: { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] },
    subjects: ['include'],
    traits: { thinking: 'none' },
  },
  {
    source: 'https://github.com/vogler75/monster-mq/issues/168',
    protocol: 'anthropic-messages',
    answer: anthropic('temperature is deprecated for this model.'),
    sent: { temperature: 0.2 },
    subjects: ['temperature'],
    traits: drops('temperature'),
  },
  {
    source: 'https://github.com/The-PR-Agent/pr-agent/issues/2456',
    protocol: 'anthropic-messages',
    answer: anthropic('`temperature` is deprecated for this model.'),
    sent: { temperature: 0.2 },
    subjects: ['temperature'],
    traits: drops('temperature'),
  },
  {
    source: 'https://github.com/earendil-works/pi/issues/3297',
    protocol: 'anthropic-messages',
    answer: anthropic(
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    ),
    sent: { thinking: { type: 'enabled', budget_tokens: 1024 } },
    subjects: ['thinking.type.enabled'],
    traits: { thinking: 'adaptive' },
  },
  {
    source: 'https://github.com/pensarai/apex/pull/890',
    protocol: 'anthropic-messages',
    answer: anthropic('adaptive thinking is not supported on this model'),
    sent: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    subjects: ['thinking.type.adaptive'],
    traits: { thinking: 'budget' },
  },
  {
    source: 'https://github.com/anthropics/claude-code/issues/30010',
    protocol: 'anthropic-messages',
    answer: anthropic('This model does not support the effort parameter.'),
    sent: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    subjects: ['output_config.effort'],
    traits: { thinking: 'budget' },
  },
  {
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/193',
    protocol: 'anthropic-messages',
    answer: anthropic('temperature and top_p cannot both be specified for this model. Please use only one.'),
    sent: { temperature: 0.2, top_p: 0.9 },
    subjects: ['temperature+top_p'],
    traits: { temperatureWithTopP: false },
  },
  {
    source: 'https://github.com/vercel/ai/issues/8943',
    protocol: 'gemini',
    answer: gemini('Penalty is not enabled for models/gemini-2.5-flash'),
    sent: { generationConfig: { frequencyPenalty: 0.5 } },
    subjects: ['frequency_penalty'],
    traits: drops('frequencyPenalty'),
  },
  {
    source: 'https://github.com/RooCodeInc/Roo-Code/issues/10700',
    protocol: 'gemini',
    answer: gemini('Thinking level is not supported for this model.'),
    sent: { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } } },
    subjects: ['thinking_level'],
    traits: { thinking: 'budget' },
  },
  {
    source: 'https://github.com/googleapis/go-genai/issues/83',
    protocol: 'gemini',
    answer: gemini(
      'Invalid JSON payload received. Unknown name "thinkingConfig" at \'generation_config\': Cannot find field.',
    ),
    sent: { generationConfig: { thinkingConfig: { thinkingBudget: 1 } } },
    subjects: ['thinking_config'],
    traits: { thinking: 'none' },
  },
  {
    source: 'https://github.com/CherryHQ/cherry-studio/issues/6319',
    protocol: 'gemini',
    answer: gemini(
      'Unable to submit request because thinking is not configurable in this model; please remove the thinking_config setting and try it again. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini',
    ),
    sent: { generationConfig: { thinkingConfig: { thinkingBudget: 1 } } },
    subjects: ['thinking_config'],
    traits: { thinking: 'none' },
  },
]

function changesOf({
  protocol = 'openai-chat',
  status = 400,
  answer,
  sent,
}: Omit<Real, 'source' | 'subjects' | 'traits'>) {
  const error = upstreamSide(protocol).decodeError(
    status,
    { 'content-type': 'application/json' },
    Buffer.from(JSON.stringify(answer)),
  )
  const body = sentMembers({ model: 'up', messages: [], ...sent })
  return refusedMembers(error).flatMap((refused) => traitChange(protocol, refused, body, {}) ?? [])
}

describe('real refusals', () => {
  test.each(real)('$source', (each) => {
    const changes = changesOf(each)
    expect(changes.map(({ subject }) => subject)).toEqual(each.subjects)
    const merged = mergeTraits(...changes.map(({ traits }) => traits))
    expect(merged).toEqual(each.traits)
  })

  test.each(real)('a member that we did not send changes nothing: $source', (each) => {
    if (each.subjects.some((subject) => subject.startsWith('messages.'))) return
    expect(changesOf({ ...each, sent: {} })).toEqual([])
  })
})

describe('refusals after which nothing may be left out', () => {
  const all = {
    temperature: 3,
    max_completion_tokens: 5,
    reasoning_effort: 'high',
    tools: [{}],
    tool_choice: 'auto',
    response_format: { type: 'json_schema' },
    stop: ['a'],
    stream: true,
  }
  test.each([
    // A value out of range is the client's own mistake.
    openai(
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
      'temperature',
      'decimal_above_max_value',
    ),
    openai(
      "Invalid type for 'temperature': expected a decimal, but got a string instead.",
      'temperature',
      'invalid_type',
    ),
    openai(
      'max_tokens is too large: 900000. This model supports at most 16384 completion tokens.',
      'max_tokens',
      'invalid_value',
    ),
    // Another meaning.
    openai(
      "Unsupported parameter: 'tools' is not supported with this model.",
      'tools',
      'unsupported_parameter',
    ),
    openai(
      "Unsupported parameter: 'response_format' is not supported with this model.",
      'response_format',
      'unsupported_parameter',
    ),
    openai(
      "Unsupported parameter: 'stop' is not supported with this model.",
      'stop',
      'unsupported_parameter',
    ),
    openai("Unknown parameter: 'messages[0].name'.", 'messages[0].name', 'unknown_parameter'),
    // The client's words, quoted by the upstream.
    openai(
      "Invalid schema for function 'f': `temperature` is not supported with this model.",
      'tools[0].function.parameters',
      'invalid_function_parameters',
    ),
    openai(
      "Invalid value: 'x'. Unsupported parameter: 'temperature' is not supported with this model.",
      'messages[0].role',
      'invalid_value',
    ),
    // An effort that was not sent.
    openai(
      "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low'.",
      null,
      null,
    ),
    openai('This model is not available.', null, null),
  ])('$error.message', (answer) => {
    expect(changesOf({ answer, sent: all })).toEqual([])
  })
})

test('levels that a vendor does not name are those known before, without the refused one', () => {
  const sent = sentMembers({ reasoning: { effort: 'max' } })
  const refused = { member: 'reasoning.effort', value: 'max' }
  const known: Traits = { effortLevels: ['low', 'high', 'max'] }
  expect(traitChange('openai-responses', refused, sent, known)).toEqual({
    subject: 'reasoning.effort=max',
    traits: { effortLevels: ['low', 'high'] },
  })
})

describe("the client's words, quoted by the upstream, teach nothing", () => {
  const inPython = "{'type': 'extra_forbidden', 'loc': ('body', 'temperature'), 'msg': 'x'}"
  test.each([
    // FastAPI repeats the whole input of a validator of the body.
    `[{'type': 'value_error', 'loc': ('body',), 'msg': 'Value error', 'input': {'user': "${inPython}"}}]`,
    'messages.0.content: got "; temperature: Extra inputs are not permitted"',
    'The content Unknown name "temperature": Cannot find field. is not allowed',
    'Invalid JSON payload received. Unknown name "temperature" at \'tools[0].function_declarations[0].parameters\': Cannot find field.',
    'Bad value "messages[0].role: unknown variant `developer`"',
  ])('%s', (message) => {
    expect(refusedMembers(errorOfKind('invalid_request', message))).toEqual([])
  })

  test('after a refusal of the upstream', () => {
    const message = `[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted', 'input': '"}, ${inPython}'}]`
    expect(refusedMembers(errorOfKind('invalid_request', message))).toEqual([{ member: 'seed' }])
  })
})

test.each([
  'json: unknown field "stream_options"',
  'This server does not know stream_options.',
  'stream_options: not permitted',
])('the request for usage, which the gateway adds, is known in whatever words: %s', (message) => {
  expect(refusedMembers(errorOfKind('invalid_request', message))).toEqual([{ member: 'stream_options' }])
})

test('a list of refusals in the words of a server names each member', () => {
  const refusal = (member: string) =>
    `{'type': 'extra_forbidden', 'loc': ('body', '${member}'), 'msg': 'Extra inputs are not permitted', 'input': 0.5}`
  const message = `[${refusal('seed')}, ${refusal('top_k')}]`
  expect(refusedMembers(errorOfKind('invalid_request', message))).toEqual([
    { member: 'seed' },
    { member: 'top_k' },
  ])
})

test('a long message is read to its 2000th character', () => {
  const message = `${'x'.repeat(2001)}; a: Extra inputs are not permitted`
  expect(refusedMembers(errorOfKind('invalid_request', message))).toEqual([])
})

test('of what was sent, only parameters are kept', () => {
  const long = 'x'.repeat(65)
  expect(
    sentMembers({
      messages: [{ content: 'secret' }],
      user: long,
      metadata: { temperature: 'hot', user_id: 'u' },
      response_format: { json_schema: { schema: { seed: {} } } },
      generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } },
      top_p: undefined,
    }),
  ).toEqual({
    messages: null,
    user: null,
    metadata: null,
    'metadata.temperature': 'hot',
    'metadata.user_id': 'u',
    response_format: null,
    generation_config: null,
    'generation_config.thinking_config': null,
    'generation_config.thinking_config.thinking_level': 'LOW',
  })
})
