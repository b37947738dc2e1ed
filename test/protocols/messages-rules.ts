import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'

/** The first rule of the Messages vendor that a request breaks; undefined when it keeps all of them. */
export function messagesFault(body: Json): string | undefined {
  if (!Number.isSafeInteger(body.max_tokens) || Number(body.max_tokens) < 1) return 'max_tokens'
  const messages = recordsOf(body.messages)
  if (messages.length === 0) return 'no messages'
  const thinking = isRecord(body.thinking) && body.thinking.type === 'enabled' ? body.thinking : undefined
  return (
    rolesFault(messages) ??
    blocksFault(messages) ??
    resultsFault(messages) ??
    toolsFault(body, messages) ??
    (thinking ? thinkingFault(body, Number(thinking.budget_tokens), messages) : undefined) ??
    (countMarks(body) > 4 ? 'more than four cache marks' : undefined)
  )
}

function rolesFault(messages: readonly Json[]): string | undefined {
  const at = messages.findIndex(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'))
  return at === -1 ? undefined : `message ${at} has the wrong role`
}

function blocksFault(messages: readonly Json[]): string | undefined {
  for (const [at, { role, content }] of messages.entries()) {
    const blocks = recordsOf(content)
    if (blocks.length === 0) return `message ${at} is empty`
    if (blocks.some(({ type, text }) => type === 'text' && String(text).trim() === ''))
      return `message ${at} has empty text`
    const last = blocks.at(-1)
    if (role === 'assistant' && String(last?.type).endsWith('thinking'))
      return `message ${at} ends with thinking`
    if (at === messages.length - 1 && role === 'assistant' && /\s$/.test(String(last?.text)))
      return 'prefill ends with space'
  }
  return undefined
}

function resultsFault(messages: readonly Json[]): string | undefined {
  const known = new Set<unknown>()
  let pending: unknown[] = []
  for (const [at, { role, content }] of messages.entries()) {
    const blocks = recordsOf(content)
    if (role === 'user') {
      const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id)
      const first = blocks.slice(0, results.length)
      if (first.some(({ type }) => type !== 'tool_result')) return `results of message ${at} are not first`
      if (new Set(results).size !== results.length) return `message ${at} has a result twice`
      if (results.length !== pending.length || pending.some((id) => !results.includes(id)))
        return `results of message ${at}`
      pending = []
      continue
    }
    pending = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    for (const id of pending) {
      if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]+$/.test(id) || known.has(id))
        return `id of a call: ${id}`
      known.add(id)
    }
    if (blocks.some(({ type, input }) => type === 'tool_use' && !isRecord(input))) return 'input of a call'
  }
  return pending.length > 0 ? 'calls without a message after them' : undefined
}

function toolsFault(body: Json, messages: readonly Json[]): string | undefined {
  if (body.tools === undefined) {
    if (body.tool_choice !== undefined) return 'tool_choice without tools'
    const hasCalls = messages.some(({ content }) =>
      recordsOf(content).some(({ type }) => type === 'tool_use'),
    )
    return hasCalls ? 'calls without tools' : undefined
  }
  const tools = recordsOf(body.tools)
  if (tools.length === 0) return 'empty tools'
  if (new Set(tools.map(({ name }) => name)).size < tools.length) return 'a tool twice'
  for (const { name, input_schema } of tools) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(name))) return `name of a tool: ${name}`
    if (!isRecord(input_schema) || input_schema.type !== 'object') return 'input_schema'
  }
  return undefined
}

function thinkingFault(body: Json, budget: number, messages: readonly Json[]): string | undefined {
  if (budget < 1024 || budget >= Number(body.max_tokens)) return 'thinking budget'
  if (body.temperature !== undefined && body.temperature !== 1) return 'temperature with thinking'
  if (body.top_k !== undefined) return 'top_k with thinking'
  if (isRecord(body.tool_choice) && /any|tool/.test(String(body.tool_choice.type)))
    return 'forced tool with thinking'
  if (messages.at(-1)?.role === 'assistant') return 'prefill with thinking'
  return undefined
}

function countMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countMarks(item), 0)
  if (!isRecord(value)) return 0
  return Object.entries(value).reduce(
    (sum, [key, item]) => sum + (key === 'cache_control' ? 1 : countMarks(item)),
    0,
  )
}
