import { gatewayError } from '../../canonical/error.ts'
import { type JsonBounds, parseSpan, scanElements, scanMembers } from '../json-scan.ts'
import type { StateFacts } from '../protocol-state.ts'

/**
 * Checks that every result in `input` has its call, there or in the items before it. A client that sends a
 * result without a call has lost its place in the conversation. Throws a GatewayError `invalid_request` with
 * OpenAI's wording. `before` is items as JSON text.
 */
export function requireCalls(
  body: Buffer,
  { conversation: input }: Pick<StateFacts, 'conversation'>,
  before: string,
  bounds: JsonBounds,
): void {
  if (input === undefined) return
  const options = { depthMax: bounds.jsonDepthMax, path: 'input' }
  const calls = new Set<unknown>()
  const results: { id: string; what: string; path: string }[] = []
  for (const [at, element] of scanElements(body, input, options).entries()) {
    if (body[element.start] !== openBrace) continue
    const path = `input[${at}]`
    const { type, call_id: callId } = scanMembers(body, element, ['type', 'call_id'], { ...options, path })
    if (type === undefined || callId === undefined) continue
    const id = parseSpan(body, callId, `${path}.call_id`)
    const what = resultNames.get(parseSpan(body, type, `${path}.type`))
    if (what === undefined) calls.add(id)
    else if (typeof id === 'string') results.push({ id, what, path })
  }
  const lost = results.find(({ id }) => !calls.has(id) && !before.includes(JSON.stringify(id)))
  if (lost === undefined) return
  const facts = { what: lost.what, id: lost.id.slice(0, 64) }
  throw gatewayError('tool_call_missing', facts, { field: lost.path })
}

const openBrace = 0x7b

const resultNames: ReadonlyMap<unknown, string> = new Map([
  ['function_call_output', 'function call output'],
  ['custom_tool_call_output', 'custom tool call output'],
  ['shell_call_output', 'shell call output'],
  ['apply_patch_call_output', 'apply patch call output'],
  ['computer_call_output', 'computer call output'],
])
