import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'

// One answer with a web search, as each vendor gives it. The types of the vendors' SDKs check the shapes. Gemini's are those of
// https://ai.google.dev/api/generate-content#GroundingMetadata, read 2026-11-22.

const greeting = 'Grüezi 😀! '
export const capital = 'Bern is the capital.'
export const largest = 'Zürich is the largest city.'
export const text = `${greeting}${capital} ${largest}`
export const query = 'capital of Switzerland'
export const bern = { url: 'https://a.example/bern', title: 'Bern' }
export const zurich = { url: 'https://b.example/zurich', title: 'Zürich – city' }

const capitalAt = { start_index: greeting.length, end_index: greeting.length + capital.length }
const largestAt = { start_index: text.length - largest.length, end_index: text.length }

const chatAnnotations: OpenAI.ChatCompletionMessage.Annotation[] = [
  { type: 'url_citation', url_citation: { ...bern, ...capitalAt } },
  { type: 'url_citation', url_citation: { ...zurich, ...largestAt } },
]

export const chatAnswer: OpenAI.ChatCompletion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'search-model',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      logprobs: null,
      message: { role: 'assistant', content: text, refusal: null, annotations: chatAnnotations },
    },
  ],
}

type ChatDelta = OpenAI.ChatCompletionChunk.Choice.Delta & { annotations?: typeof chatAnnotations }

/** The vendor sends the annotations after the text. */
export const chatStream: OpenAI.ChatCompletionChunk[] = [
  chatChunk({ role: 'assistant', content: greeting }),
  chatChunk({ content: `${capital} ` }),
  chatChunk({ content: largest }),
  chatChunk({ annotations: chatAnnotations }),
  chatChunk({}, 'stop'),
]

function chatChunk(delta: ChatDelta, finish_reason: 'stop' | null = null): OpenAI.ChatCompletionChunk {
  const choices = [{ index: 0, delta, finish_reason, logprobs: null }]
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'search-model', choices }
}

const searchItem: OpenAI.Responses.ResponseFunctionWebSearch = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: {
    type: 'search',
    query,
    queries: [query],
    sources: [
      { type: 'url', url: bern.url },
      { type: 'url', url: zurich.url },
    ],
  },
}

const annotations: OpenAI.Responses.ResponseOutputText['annotations'] = [
  { type: 'url_citation', ...bern, ...capitalAt },
  { type: 'url_citation', ...zurich, ...largestAt },
]

const messageItem: OpenAI.Responses.ResponseOutputMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations }],
}

type ResponsesAnswer = Pick<
  OpenAI.Responses.Response,
  'id' | 'object' | 'model' | 'status' | 'output' | 'usage'
>

export const responsesAnswer: ResponsesAnswer = {
  id: 'resp_1',
  object: 'response',
  model: 'gpt-5',
  status: 'completed',
  output: [searchItem, messageItem],
  usage: {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 29,
  },
}

const atText = { item_id: 'msg_1', output_index: 1, content_index: 0 }
const atSearch = { item_id: 'ws_1', output_index: 0 }
const emptyPart = { type: 'output_text' as const, text: '', annotations: [] }

/** The vendor sends each annotation after the words that it is about. */
export const responsesStream: readonly object[] = [
  {
    type: 'response.created',
    sequence_number: 0,
    response: { ...responsesAnswer, output: [], status: 'in_progress' },
  },
  responsesEvent({
    type: 'response.output_item.added',
    sequence_number: 1,
    output_index: 0,
    item: { ...searchItem, status: 'in_progress', action: { type: 'search', query: '' } },
  }),
  responsesEvent({ type: 'response.web_search_call.in_progress', sequence_number: 2, ...atSearch }),
  responsesEvent({ type: 'response.web_search_call.searching', sequence_number: 3, ...atSearch }),
  responsesEvent({ type: 'response.web_search_call.completed', sequence_number: 4, ...atSearch }),
  responsesEvent({
    type: 'response.output_item.done',
    sequence_number: 5,
    output_index: 0,
    item: searchItem,
  }),
  responsesEvent({
    type: 'response.output_item.added',
    sequence_number: 6,
    output_index: 1,
    item: { ...messageItem, status: 'in_progress', content: [] },
  }),
  responsesEvent({ type: 'response.content_part.added', sequence_number: 7, ...atText, part: emptyPart }),
  responsesText(8, greeting),
  responsesText(9, capital),
  responsesCitation(10, 0),
  responsesText(11, ' '),
  responsesText(12, largest),
  responsesCitation(13, 1),
  responsesEvent({
    type: 'response.output_text.done',
    sequence_number: 14,
    ...atText,
    text,
    logprobs: [],
  }),
  responsesEvent({
    type: 'response.content_part.done',
    sequence_number: 15,
    ...atText,
    part: { type: 'output_text', text, annotations },
  }),
  responsesEvent({
    type: 'response.output_item.done',
    sequence_number: 16,
    output_index: 1,
    item: messageItem,
  }),
  { type: 'response.completed', sequence_number: 17, response: responsesAnswer },
]

/** Only to check its type. */
function responsesEvent(event: OpenAI.Responses.ResponseStreamEvent): OpenAI.Responses.ResponseStreamEvent {
  return event
}

function responsesText(sequence_number: number, delta: string): OpenAI.Responses.ResponseStreamEvent {
  return { type: 'response.output_text.delta', sequence_number, ...atText, delta, logprobs: [] }
}

function responsesCitation(
  sequence_number: number,
  annotation_index: number,
): OpenAI.Responses.ResponseStreamEvent {
  const annotation = annotations[annotation_index] ?? null
  return {
    type: 'response.output_text.annotation.added',
    sequence_number,
    ...atText,
    annotation_index,
    annotation,
  }
}

const callBlock: Anthropic.ServerToolUseBlock = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query },
  caller: { type: 'direct' },
}

const resultBlock: Anthropic.WebSearchToolResultBlock = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  caller: { type: 'direct' },
  content: [bern, zurich].map((page) => ({
    type: 'web_search_result',
    ...page,
    encrypted_content: 'sealed by the vendor',
    page_age: 'April 30, 2026',
  })),
}

const textBlocks: Anthropic.TextBlock[] = [
  { type: 'text', text: greeting, citations: null },
  { type: 'text', text: capital, citations: [location(bern, 'Bern has been the seat since 1848.')] },
  { type: 'text', text: ' ', citations: null },
  { type: 'text', text: largest, citations: [location(zurich, 'Zürich has 450,000 people.')] },
]

function location(page: { url: string; title: string }, cited_text: string): Anthropic.TextCitation {
  return { type: 'web_search_result_location', ...page, cited_text, encrypted_index: 'sealed by the vendor' }
}

const messagesUsage = {
  input_tokens: 9,
  output_tokens: 20,
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
  server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
}

export const messagesAnswer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [callBlock, resultBlock, ...textBlocks] satisfies Anthropic.ContentBlock[],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: messagesUsage,
} as const

export const messagesStream: readonly object[] = [
  { type: 'message_start', message: { ...messagesAnswer, content: [], stop_reason: null } },
  ...messagesBlock(0, { ...callBlock, input: {} }, [
    { type: 'input_json_delta', partial_json: JSON.stringify({ query }) },
  ]),
  ...messagesBlock(1, resultBlock, []),
  ...textBlocks.flatMap((block, at) =>
    messagesBlock(at + 2, { type: 'text', text: '', citations: null }, [
      ...(block.citations ?? []).map(
        (citation): Anthropic.RawContentBlockDelta => ({ type: 'citations_delta', citation }),
      ),
      { type: 'text_delta', text: block.text },
    ]),
  ),
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: messagesUsage },
  { type: 'message_stop' },
]

function messagesBlock(
  index: number,
  content_block: Anthropic.ContentBlock,
  deltas: readonly Anthropic.RawContentBlockDelta[],
): Anthropic.RawMessageStreamEvent[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map(
      (delta): Anthropic.RawMessageStreamEvent => ({ type: 'content_block_delta', index, delta }),
    ),
    { type: 'content_block_stop', index },
  ]
}

/** Offsets are bytes of UTF-8. */
function segmentOf(words: string) {
  const startIndex = Buffer.byteLength(text.slice(0, text.indexOf(words)))
  return { startIndex, endIndex: startIndex + Buffer.byteLength(words), text: words }
}

const groundingMetadata = {
  webSearchQueries: [query],
  groundingChunks: [bern, zurich].map(({ url, title }) => ({ web: { uri: url, title } })),
  groundingSupports: [
    { segment: segmentOf(capital), groundingChunkIndices: [0] },
    { segment: segmentOf(largest), groundingChunkIndices: [1] },
  ],
  searchEntryPoint: { renderedContent: '<div></div>' },
}

const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 20, totalTokenCount: 29 }

export const geminiAnswer = {
  responseId: 'g-1',
  modelVersion: 'gemini-2.5-flash',
  candidates: [
    { index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', groundingMetadata },
  ],
  usageMetadata,
}

/** The last event has the grounding. */
export const geminiStream: readonly object[] = [
  geminiEvent({ content: { role: 'model', parts: [{ text: greeting }] } }),
  geminiEvent({ content: { role: 'model', parts: [{ text: `${capital} ` }] } }),
  {
    ...geminiEvent({
      content: { role: 'model', parts: [{ text: largest }] },
      finishReason: 'STOP',
      groundingMetadata,
    }),
    usageMetadata,
  },
]

function geminiEvent(candidate: object) {
  return { responseId: 'g-1', modelVersion: 'gemini-2.5-flash', candidates: [{ index: 0, ...candidate }] }
}
