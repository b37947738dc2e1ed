import type { Block, ChatRequest } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Need, NeedName } from '../catalog/traits/needs.ts'
import type { Envelope } from '../protocols/envelope.ts'
import type { ClientSide } from '../protocols/protocol.ts'

/**
 * Returns the capabilities that a request needs from an offer, each once with the first place that needs it.
 * Empty if our decoder does not fully understand the request, in which case the needs are unknown.
 */
export function requestNeeds(client: ClientSide, body: Json, envelope: Envelope): Need[] {
  let request: ChatRequest
  try {
    request = client.decodeRequest(body, { envelope })
  } catch (error) {
    if (error instanceof GatewayError) return []
    throw error
  }
  const found = new Map<NeedName, string>()
  const need = (name: NeedName, path: string) => {
    if (!found.has(name)) found.set(name, path)
  }
  for (const { blocks } of request.turns) needsOfBlocks(blocks, need)
  needsOfTools(request, need)
  const { format, stream, names } = request
  if (format?.type === 'json_schema') need('schema', names.format ?? 'format')
  if (stream) need('streaming', 'stream')
  const { modalities } = body
  if (Array.isArray(modalities)) {
    if (modalities.includes('audio')) need('audioOutput', 'modalities')
    if (modalities.includes('image')) need('imageOutput', 'modalities')
  }
  return [...found].map(([name, path]) => ({ name, path }))
}

type Note = (name: NeedName, path: string) => void

function needsOfBlocks(blocks: readonly Block[], need: Note): void {
  for (const block of blocks) {
    if (block.type === 'image') need('imageInput', block.path)
    else if (block.type === 'audio') need('audioInput', block.path)
    else if (block.type === 'document') {
      // Any model can read a plain text document.
      if (block.source.kind !== 'text') need('documentInput', block.path)
    } else if (block.type === 'tool-result') needsOfBlocks(block.content, need)
  }
}

function needsOfTools({ tools, toolChoice, names }: ChatRequest, need: Note): void {
  if (toolChoice?.type === 'none') return
  const own = tools.find(({ type }) => type !== 'hosted')
  if (own !== undefined) need('tools', own.path)
  const search = tools.find(
    ({ type, name }) => type === 'hosted' && /^(web_search|google_?search)/i.test(name),
  )
  if (search !== undefined) need('webSearch', search.path)
  const isForced =
    toolChoice?.type === 'required' ||
    toolChoice?.type === 'tool' ||
    (toolChoice?.type === 'allowed' && toolChoice.mode === 'required')
  if (isForced && own !== undefined) need('forcedTools', names.toolChoice ?? 'tool_choice')
}
