/** What somebody said in a conversation, in words. */
export interface Said {
  /** `user`, `assistant`, `tool`, or the type of an item that has no role. */
  role: string
  text: string
}

/** What a request brought that the one before did not have. */
export interface Added {
  said: readonly Said[]
  /** Messages at the end of the request before that are no longer there: the client has shortened them. */
  gone: number
}

/** Undefined: the body is not kept, or it is of no conversation. */
export function messagesOf(body: string | null): readonly unknown[] | undefined {
  if (body === null) return undefined
  let read: unknown
  try {
    read = JSON.parse(body)
  } catch {
    return undefined
  }
  // Chat completions and messages; responses; Gemini.
  for (const name of ['messages', 'input', 'contents']) {
    const found = memberOf(read, name)
    if (Array.isArray(found)) return found
    if (typeof found === 'string') return [{ role: 'user', content: found }]
  }
  return undefined
}

/** Compares with the request before, from the first message on. Undefined `before`: all is new. */
export function addedBy(before: readonly unknown[] | undefined, now: readonly unknown[]): Added {
  const former = (before ?? []).map((each) => JSON.stringify(each))
  let same = 0
  while (same < former.length && same < now.length && former[same] === JSON.stringify(now[same])) same++
  // One that has nothing in common is not shortened: the API may keep what was said.
  return { said: now.slice(same).map(saidIn), gone: same === 0 ? 0 : former.length - same }
}

function saidIn(message: unknown): Said {
  const role = memberOf(message, 'role') ?? memberOf(message, 'type')
  const calls = memberOf(message, 'tool_calls')
  const parts = [
    memberOf(message, 'content') ?? memberOf(message, 'parts') ?? memberOf(message, 'output'),
    calls,
  ]
  const text = parts.map(textOf).filter((part) => part !== '')
  return {
    role: String(role ?? 'message'),
    text: text.length > 0 ? text.join('\n') : JSON.stringify(message),
  }
}

/** The text of a content: of its parts, tools as calls, other things by their type. */
function textOf(content: unknown): string {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(textOf).join('\n')
  const text = memberOf(content, 'text')
  if (typeof text === 'string') return text
  const call = memberOf(content, 'function') ?? content
  const name = memberOf(call, 'name')
  const input = memberOf(call, 'arguments') ?? memberOf(call, 'input') ?? memberOf(call, 'args')
  if (typeof name === 'string')
    return `${name}(${typeof input === 'string' ? input : JSON.stringify(input ?? {})})`
  const result = memberOf(content, 'content')
  if (result !== undefined) return textOf(result)
  const type = memberOf(content, 'type')
  return typeof type === 'string' ? `[${type}]` : JSON.stringify(content)
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
