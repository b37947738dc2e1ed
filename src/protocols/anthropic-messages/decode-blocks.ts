import type { Block, DocumentBlock, ImageBlock, ReasoningSignature, TextBlock } from '../../canonical/chat.ts'
import { invalid, wrongType } from '../../canonical/field-error.ts'
import { type Members, membersOfEach } from '../members.ts'
import type { DecodeContext } from '../protocol.ts'
import { protocolName } from './wire.ts'

export interface BlockContext extends DecodeContext {
  /** Collects the names of tools that were called or found by a search. */
  seenTools: Set<string>
}

/** Decodes the blocks of a message. A wire block can become several blocks or none. */
export function decodeBlocks(blocks: readonly Members[], context: BlockContext): Block[] {
  return blocks.flatMap((block) => {
    const decoded = decodeBlock(block, context)
    // A foreign block is reported as a whole.
    if (decoded.every(({ type }) => type !== 'foreign')) block.noteRest(losses)
    return decoded
  })
}

const losses = {
  citations: 'other formats do not accept sources of earlier answers',
  toolset_name: 'other formats have no tool sets',
  transformations: 'other formats do not report how they transform large images',
}

/** The cache hint of a block or tool, to be spread into it. */
export function readCache(block: Members): { cache?: { ttl: '5m' | '1h' } } {
  const control = block.members('cache_control')
  if (control === undefined) return {}
  const ttl = control.text('ttl')
  control.ignore(['type'])
  control.noteRest()
  return { cache: { ttl: ttl === '1h' ? '1h' : '5m' } }
}

function decodeBlock(block: Members, context: BlockContext): Block[] {
  const { envelope } = context
  const type = block.requiredText('type')
  const { path } = block
  switch (type) {
    case 'text':
    case 'image':
    case 'document':
    case 'search_result':
    case 'tool_reference':
      return decodePart(type, block, context)
    case 'thinking': {
      const text = block.text('thinking') ?? ''
      const signature = openSignature(block.text('signature'), 'signature', envelope)
      return [{ type: 'reasoning', text, summary: true, signature, path }]
    }
    case 'redacted_thinking': {
      const signature = openSignature(block.text('data'), 'encrypted', envelope)
      return [{ type: 'reasoning', text: '', summary: true, signature, path }]
    }
    case 'tool_use': {
      const input = JSON.stringify(block.object('input') ?? {})
      const id = block.requiredText('id')
      const name = block.requiredText('name')
      noteCaller(block)
      context.seenTools.add(name)
      return [{ type: 'tool-call', id, name, kind: 'function', input, path, ...readCache(block) }]
    }
    case 'tool_result': {
      const callId = block.requiredText('tool_use_id')
      const isError = block.boolean('is_error') ?? false
      const parts = decodeParts(block, context)
      // A cache hint inside the result is moved to its end, where it has the same effect.
      const cache = readCache(block).cache ?? parts.findLast((part) => part.cache !== undefined)?.cache
      const content = parts.map(({ cache: _, ...part }) => part)
      return [
        { type: 'tool-result', callId, content, isError, path, ...(cache === undefined ? {} : { cache }) },
      ]
    }
    case 'compaction': {
      const summary = block.text('content')
      block.ignore(['encrypted_content', 'signature', 'cache_control', 'tool_changes'])
      if (summary !== undefined && summary !== '') return [{ type: 'text', text: summary, path }]
      return [foreign(block, type, 'refuse', 'only the vendor can read its own compacted content')]
    }
    default:
      return [decodeForeign(block, type)]
  }
}

type Part = TextBlock | ImageBlock | DocumentBlock

/** The content of a tool result, or of a document made of blocks. */
function decodeParts(owner: Members, context: BlockContext): Part[] {
  const content = owner.any('content')
  const path = owner.pathOf('content')
  if (content === undefined) return []
  if (typeof content === 'string') return [{ type: 'text', text: content, path }]
  if (!Array.isArray(content)) throw wrongType(content, path, 'a string or an array of blocks')
  return membersOfEach(content, path, owner.unmapped).flatMap((part) => {
    const type = part.requiredText('type')
    if (partTypes.has(type)) {
      const decoded = decodePart(type, part, context)
      part.noteRest(losses)
      return decoded
    }
    const verdict = type === 'browser_state' ? 'drop' : 'refuse'
    part.unmapped[verdict](part.path, `other formats do not support blocks of type ${quoted(type)}`)
    return []
  })
}

const partTypes: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_reference',
])

function decodePart(type: string, block: Members, context: BlockContext): Part[] {
  const { path } = block
  const cache = readCache(block)
  switch (type) {
    case 'text':
      return [{ type: 'text', text: block.requiredText('text'), path, ...cache }]
    case 'image': {
      const source = decodeSource(block)
      if (source.kind === 'text')
        throw invalid(block.pathOf('source.type'), 'an image cannot have a text source. Use base64 or a URL.')
      return [{ type: 'image', source, path, ...cache }]
    }
    case 'document':
      return decodeDocument(block, cache, context)
    case 'search_result': {
      const found = (block.objects('content') ?? []).map(decodeFound)
      const texts = found.map(({ text }) => text)
      const lines = [block.text('title') ?? '', `Source: ${block.text('source') ?? 'unknown'}`, '', ...texts]
      block.drop('citations', 'other formats do not cite search results from the client')
      const inner = found.findLast((item) => item.cache !== undefined)?.cache
      const hint = cache.cache ?? inner
      return [
        { type: 'text', text: lines.join('\n').trim(), path, ...(hint === undefined ? {} : { cache: hint }) },
      ]
    }
    default: {
      const name = block.text('tool_name') ?? ''
      context.seenTools.add(name)
      return [{ type: 'text', text: `The tool "${name}" can be used now.`, path, ...cache }]
    }
  }
}

/** The text of a search result. Its blocks are merged, so their cache hints move to the end. */
function decodeFound(item: Members): { text: string; cache?: { ttl: '5m' | '1h' } } {
  item.word('type', ['text'])
  const found = { text: item.text('text') ?? '', ...readCache(item) }
  item.noteRest(losses)
  return found
}

function decodeDocument(
  block: Members,
  cache: { cache?: { ttl: '5m' | '1h' } },
  context: BlockContext,
): Part[] {
  const { path } = block
  const title = block.text('title')
  const about = block.text('context')
  const name = title === undefined ? {} : { name: title }
  block.drop('citations', 'other formats have no setting to cite documents')
  const before: TextBlock[] =
    about === undefined || about === '' ? [] : [{ type: 'text', text: about, path: block.pathOf('context') }]
  const source = block.requiredMembers('source')
  if (source.any('type') !== 'content') {
    return [...before, { type: 'document', source: decodeSource(block), path, ...name, ...cache }]
  }
  const parts = decodeParts(source, context)
  source.noteRest()
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const images = parts.filter((part) => part.type !== 'text')
  return [...before, { type: 'document', source: { kind: 'text', text }, path, ...name, ...cache }, ...images]
}

function decodeSource(block: Members): DocumentBlock['source'] {
  const source = block.requiredMembers('source')
  const type = source.requiredWord('type', ['base64', 'text', 'url', 'file'])
  if (type === 'text') source.ignore(['media_type'])
  const read = readSource(type, source)
  source.noteRest()
  return read
}

function readSource(type: 'base64' | 'text' | 'url' | 'file', source: Members): DocumentBlock['source'] {
  switch (type) {
    case 'base64': {
      const mediaType = source.requiredText('media_type')
      return { kind: 'base64', mediaType, data: source.requiredText('data') }
    }
    case 'text':
      return { kind: 'text', text: source.requiredText('data') }
    case 'url':
      return { kind: 'url', url: source.requiredText('url') }
    case 'file':
      return { kind: 'file', id: source.requiredText('file_id') }
  }
}

/**
 * A signature from one of our envelopes, or a native signature of this format, because the client may have
 * used the vendor directly before.
 */
function openSignature(
  value: string | undefined,
  kind: ReasoningSignature['kind'],
  envelope: DecodeContext['envelope'],
): ReasoningSignature | undefined {
  if (value === undefined || value === '') return undefined
  return envelope.open(value) ?? { protocol: protocolName, model: undefined, kind, value }
}

/** A call made by code that the vendor runs is still a call, but the translation drops its caller. */
function noteCaller(block: Members): void {
  const caller = block.object('caller')
  if (caller !== undefined && caller.type !== 'direct')
    block.drop('caller', 'in other formats, only the model itself can call tools')
}

function decodeForeign(block: Members, type: string): Block {
  if (type === 'server_tool_use' || type === 'mcp_tool_use' || type.endsWith('_tool_result')) {
    return foreign(block, type, 'drop', "the following text contains the results of the vendor's own tools")
  }
  if (['fallback', 'mcp_tool_listing', 'tool_addition', 'tool_removal'].includes(type)) {
    return foreign(block, type, 'drop', `other formats do not support blocks of type ${quoted(type)}`)
  }
  return foreign(block, type, 'refuse', `other formats do not support blocks of type ${quoted(type)}`)
}

function foreign(block: Members, name: string, verdict: 'drop' | 'refuse', reason: string): Block {
  return { type: 'foreign', name, verdict, reason, path: block.path }
}

function quoted(type: string): string {
  return JSON.stringify(type.slice(0, 40))
}
