/** The body of a request, whatever its format. */
export type RequestBody = Readonly<Record<string, unknown>>

export const endpoints = [
  { path: '/v1/chat/completions', title: 'Chat completions', kind: 'chat' },
  { path: '/v1/responses', title: 'Responses', kind: 'chat' },
  { path: '/v1/messages', title: 'Messages', kind: 'chat' },
  { path: '/v1/images/generations', title: 'Images', kind: 'image' },
  { path: '/v1/embeddings', title: 'Embeddings', kind: 'embedding' },
] as const

export type Endpoint = (typeof endpoints)[number]['path']

export function endpointOf(path: unknown): Endpoint | undefined {
  return endpoints.find((endpoint) => endpoint.path === path)?.path
}

export function kindOf(endpoint: Endpoint): 'chat' | 'image' | 'embedding' {
  return endpoints.find(({ path }) => path === endpoint)?.kind ?? 'chat'
}

/**
 * A message as the form has it. `parts`: its content is more than a text, and only the JSON can change it.
 */
export interface FormMessage {
  role: string
  text: string
  parts: boolean
}

/** What all formats have, as a form shows it. Null: not set. */
export interface Form {
  model: string
  /** Null: the format has none, or the request's is more than a text. */
  system: string | null
  messages: FormMessage[]
  maxTokens: number | null
  temperature: number | null
  stream: boolean
  /** What an image or an embedding is made of. */
  prompt: string
  tools: FormTool[] | null
}

/** A function that a model may call. Tools of other kinds belong to one format only. */
export interface FormTool {
  name: string
  description?: string
  parameters: unknown
}

/** Reads what the form shows. What it does not know stays in the request. */
export function formOf(endpoint: Endpoint, request: RequestBody): Form {
  const isResponses = endpoint === '/v1/responses'
  const isChat = endpoint === '/v1/chat/completions'
  const said = isResponses ? request.input : request.messages
  const all = typeof said === 'string' ? [{ role: 'user', content: said }] : Array.isArray(said) ? said : []
  const [first] = all
  const leads = isChat && isSystem(first) && typeof first.content === 'string'
  const system = isChat ? (leads ? first.content : '') : isResponses ? request.instructions : request.system
  return {
    model: typeof request.model === 'string' ? request.model : '',
    system: system === undefined || system === null ? '' : typeof system === 'string' ? system : null,
    messages: (leads ? all.slice(1) : all).map(messageOf),
    maxTokens: numberOf(request[maxTokensName(endpoint, request)]),
    temperature: numberOf(request.temperature),
    stream: request.stream === true,
    prompt: textOf(endpoint === '/v1/embeddings' ? request.input : request.prompt),
    tools: toolsOf(endpoint, request.tools),
  }
}

/** The request with some fields of the form changed; all else stays as it is. */
export function withForm(endpoint: Endpoint, request: RequestBody, change: Partial<Form>): RequestBody {
  const next: Record<string, unknown> = { ...request }
  const set = (name: string, value: unknown) => {
    if (value === undefined || value === null) delete next[name]
    else next[name] = value
  }
  if (change.model !== undefined) next.model = change.model
  if (change.stream !== undefined) set('stream', change.stream ? true : undefined)
  if ('maxTokens' in change) set(maxTokensName(endpoint, request), change.maxTokens)
  if ('temperature' in change) set('temperature', change.temperature)
  if (change.prompt !== undefined) next[endpoint === '/v1/embeddings' ? 'input' : 'prompt'] = change.prompt
  if (change.tools !== undefined) set('tools', toolsIn(endpoint, change.tools))
  if (change.messages !== undefined || 'system' in change) setConversation(endpoint, request, next, change)
  return next
}

function setConversation(
  endpoint: Endpoint,
  request: RequestBody,
  next: Record<string, unknown>,
  change: Partial<Form>,
): void {
  const isResponses = endpoint === '/v1/responses'
  const isChat = endpoint === '/v1/chat/completions'
  const said = isResponses ? request.input : request.messages
  const all: unknown[] = Array.isArray(said) ? said : []
  const leads = isChat && isSystem(all[0]) && typeof all[0].content === 'string'
  const before = leads ? all.slice(1) : all
  const system = change.system ?? (leads ? String((all[0] as { content: unknown }).content) : '')
  if (!isChat && 'system' in change) {
    const name = isResponses ? 'instructions' : 'system'
    if (system === '') delete next[name]
    else next[name] = system
  }
  if (change.messages === undefined && !isChat) return
  const messages = (change.messages ?? formOf(endpoint, request).messages).map((message, index) => {
    // What is more than a text stays as it is; the form only moves and removes it.
    if (message.parts) return sourceOf(message) ?? before[index]
    const known = sourceOf(message)
    return { ...(isRecord(known) ? known : {}), role: message.role, content: message.text }
  })
  const role = leads && isRecord(all[0]) ? all[0].role : 'system'
  next[isResponses ? 'input' : 'messages'] =
    isChat && system !== '' ? [{ role, content: system }, ...messages] : messages
}

/**
 * Of which item of the request a message of the form was read: fields that the form does not know are kept.
 */
const sources = new WeakMap<FormMessage, unknown>()

function sourceOf(message: FormMessage): unknown {
  return sources.get(message)
}

/** A message with changes, which still belongs to its item of the request. */
export function changedMessage(message: FormMessage, change: Partial<FormMessage>): FormMessage {
  const next = { ...message, ...change }
  sources.set(next, sources.get(message))
  return next
}

function messageOf(item: unknown): FormMessage {
  const { role, content, type } = isRecord(item) ? item : {}
  const isText = typeof content === 'string'
  const message = {
    role: typeof role === 'string' ? role : typeof type === 'string' ? type : 'unknown',
    text: isText ? content : textsIn(content),
    parts: !isText,
  }
  sources.set(message, item)
  return message
}

function textsIn(content: unknown): string {
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n')
}

/**
 * The same request in another format, as far as the form knows it. `lost`: the names of what stays behind,
 * because only the former format has it.
 */
export function inFormat(
  from: Endpoint,
  to: Endpoint,
  request: RequestBody,
): { request: RequestBody; lost: string[] } {
  if (from === to) return { request, lost: [] }
  const form = formOf(from, request)
  const prompt = kindOf(from) === 'chat' ? (form.messages.at(-1)?.text ?? '') : form.prompt
  if (kindOf(to) !== 'chat') {
    const lost = lostNames(request, ['model', 'messages', 'input', 'prompt', 'max_tokens', 'stream'])
    return { request: withForm(to, {}, { model: form.model, prompt }), lost }
  }
  const messages =
    kindOf(from) === 'chat'
      ? form.messages.map(({ role, text }) => ({ role, text, parts: false }))
      : undefined
  const made = withForm(
    to,
    {},
    {
      model: form.model,
      stream: form.stream,
      ...(form.system ? { system: form.system } : {}),
      messages: messages ?? [{ role: 'user', text: prompt, parts: false }],
      maxTokens: form.maxTokens ?? (to === '/v1/messages' ? 1_024 : null),
      temperature: form.temperature,
      tools: form.tools,
    },
  )
  const lost = lostNames(request, [
    'model',
    'messages',
    'input',
    'prompt',
    'instructions',
    'system',
    'stream',
    'max_tokens',
    'max_completion_tokens',
    'max_output_tokens',
    'temperature',
    ...(form.tools === null ? [] : ['tools']),
  ])
  return {
    request: made,
    lost: form.messages.some(({ parts }) => parts) ? [...lost, 'content that is no text'] : lost,
  }
}

function lostNames(request: RequestBody, kept: readonly string[]): string[] {
  return Object.keys(request).filter((name) => !kept.includes(name))
}

function maxTokensName(endpoint: Endpoint, request: RequestBody): string {
  if (endpoint === '/v1/responses') return 'max_output_tokens'
  if (endpoint === '/v1/messages') return 'max_tokens'
  return 'max_tokens' in request ? 'max_tokens' : 'max_completion_tokens'
}

/** Null: none, or tools that the form does not know. */
function toolsOf(endpoint: Endpoint, tools: unknown): FormTool[] | null {
  if (!Array.isArray(tools)) return null
  const read = tools.map((tool) => {
    const definition = endpoint === '/v1/chat/completions' ? tool?.function : tool
    if (!isRecord(definition) || typeof definition.name !== 'string') return undefined
    const { name, description } = definition
    const parameters = endpoint === '/v1/messages' ? definition.input_schema : definition.parameters
    return { name, ...(typeof description === 'string' ? { description } : {}), parameters: parameters ?? {} }
  })
  return read.every((tool) => tool !== undefined) ? read : null
}

function toolsIn(endpoint: Endpoint, tools: readonly FormTool[] | null): unknown[] | undefined {
  if (tools === null || tools.length === 0) return undefined
  return tools.map(({ parameters, ...rest }) => {
    if (endpoint === '/v1/messages') return { ...rest, input_schema: parameters }
    if (endpoint === '/v1/responses') return { type: 'function', ...rest, parameters }
    return { type: 'function', function: { ...rest, parameters } }
  })
}

/**
 * A request to begin with. Its answer is bounded, so that a key whose spending is limited can send it to a
 * model without a bound of its own.
 */
export function firstRequest(endpoint: Endpoint, model: string): RequestBody {
  if (endpoint === '/v1/images/generations') return { model, prompt: 'A small sailing boat' }
  if (endpoint === '/v1/embeddings') return { model, input: 'Hello' }
  const chat = {
    model,
    stream: true,
    max_completion_tokens: 1_024,
    messages: [{ role: 'user', content: 'Hello' }],
  }
  return inFormat('/v1/chat/completions', endpoint, chat).request
}

/** The object that a text is, or what is wrong with it, and in which line. */
export function parseRequest(
  text: string,
): { request: RequestBody } | { error: string; line: number | undefined } {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? { request: value } : { error: 'A request is an object: { ... }', line: 1 }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const position = /position (\d+)/.exec(message)?.[1]
    const line = /line (\d+)/.exec(message)?.[1]
    const atEnd = /end of JSON|unterminated/i.test(message) ? text.split('\n').length : undefined
    return {
      error: message.replace(/ in JSON at position.*/, '').replace(/,? \.{3}.* is not valid JSON/, ''),
      line: line ? Number(line) : position ? text.slice(0, Number(position)).split('\n').length : atEnd,
    }
  }
}

function isSystem(item: unknown): item is { role: string; content: unknown } {
  return isRecord(item) && (item.role === 'system' || item.role === 'developer')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
