import type {
  Block,
  DocumentBlock,
  ImageBlock,
  Seal,
  TextBlock,
  UnmappedField,
} from '../../canonical/chat.ts'
import { invalid } from '../json-scan.ts'
import type { DecodeContext } from '../protocol.ts'
import { Members, membersOf, wrong } from './shape.ts'
import { protocolName } from './wire.ts'

export interface BlockContext extends DecodeContext {
  others: UnmappedField[]
  /** Filled with the names of tools that were called, or that a search has found. */
  seenTools: Set<string>
}

/** The blocks of a message. One of the wire may become several, or none. */
export function decodeBlocks(content: unknown[], path: string, context: BlockContext): Block[] {
  return content.flatMap((item, at) => {
    const block = membersOf(item, `${path}[${at}]`)
    const decoded = decodeBlock(block, context)
    block.rest(context.others)
    return decoded
  })
}

/** The cache hint of a block or tool, ready to be spread into it. */
export function readCache(block: Members, others: UnmappedField[]): { cache?: { ttl: '5m' | '1h' } } {
  const hint = block.object('cache_control')
  if (hint === undefined) return {}
  const control = new Members(hint, block.pathOf('cache_control'))
  const ttl = control.text('ttl')
  control.any('type')
  control.rest(others)
  return { cache: { ttl: ttl === '1h' ? '1h' : '5m' } }
}

function decodeBlock(block: Members, context: BlockContext): Block[] {
  const { others, envelope } = context
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
      const seal = openSeal(block.text('signature'), 'signature', envelope)
      return [{ type: 'reasoning', text, summary: true, seal, path }]
    }
    case 'redacted_thinking': {
      const seal = openSeal(block.text('data'), 'encrypted', envelope)
      return [{ type: 'reasoning', text: '', summary: true, seal, path }]
    }
    case 'tool_use': {
      const input = JSON.stringify(block.object('input') ?? {})
      const id = block.requiredText('id')
      const name = block.requiredText('name')
      readCaller(block, others)
      context.seenTools.add(name)
      return [{ type: 'tool-call', id, name, kind: 'function', input, path, ...readCache(block, others) }]
    }
    case 'tool_result': {
      const callId = block.requiredText('tool_use_id')
      const isError = block.boolean('is_error') ?? false
      const content = decodeResult(block, context)
      block.drop(others, { toolset_name: 'other formats have no sets of tools' })
      return [{ type: 'tool-result', callId, content, isError, path, ...readCache(block, others) }]
    }
    case 'compaction': {
      const summary = block.text('content')
      for (const name of ['encrypted_content', 'signature', 'cache_control', 'tool_changes']) block.any(name)
      if (summary !== undefined && summary !== '') return [{ type: 'text', text: summary, path }]
      return [foreign(block, type, 'refuse', 'what the vendor compacted and sealed cannot be read by others')]
    }
    default:
      return [decodeForeign(block, type)]
  }
}

function decodePart(
  type: string,
  block: Members,
  context: BlockContext,
): (TextBlock | ImageBlock | DocumentBlock)[] {
  const { others } = context
  const { path } = block
  const cache = readCache(block, others)
  switch (type) {
    case 'text':
      block.drop(others, { citations: 'sources of what was said before do not travel' })
      return [{ type: 'text', text: block.requiredText('text'), path, ...cache }]
    case 'image': {
      block.drop(others, { transformations: 'other formats do not say what becomes of a large image' })
      const source = decodeSource(block, others)
      if (source.kind === 'text') throw invalid(block.pathOf('source.type'), 'an image cannot be a text')
      return [{ type: 'image', source, path, ...cache }]
    }
    case 'document':
      return decodeDocument(block, cache, context)
    case 'search_result': {
      const texts = block.objects('content').map((item) => item.text('text') ?? '')
      const lines = [block.text('title') ?? '', `Source: ${block.text('source') ?? 'not told'}`, '', ...texts]
      block.drop(others, { citations: 'other formats do not cite search results given to them' })
      return [{ type: 'text', text: lines.join('\n').trim(), path, ...cache }]
    }
    default: {
      const name = block.text('tool_name') ?? ''
      context.seenTools.add(name)
      return [{ type: 'text', text: `The tool "${name}" can be used now.`, path, ...cache }]
    }
  }
}

function decodeDocument(
  block: Members,
  cache: { cache?: { ttl: '5m' | '1h' } },
  context: BlockContext,
): (TextBlock | ImageBlock | DocumentBlock)[] {
  const { others } = context
  const { path } = block
  const title = block.text('title')
  const about = block.text('context')
  const name = title === undefined ? {} : { name: title }
  block.drop(others, { citations: 'other formats cannot be asked to cite a document' })
  const before: TextBlock[] =
    about === undefined || about === '' ? [] : [{ type: 'text', text: about, path: block.pathOf('context') }]
  const given = block.object('source')
  if (given === undefined) throw wrong(block.pathOf('source'), 'an object', given)
  if (given.type !== 'content') {
    return [...before, { type: 'document', source: decodeSource(block, others), path, ...name, ...cache }]
  }
  const source = new Members(given, block.pathOf('source'))
  source.any('type')
  const content = source.any('content')
  source.rest(others)
  const parts: (TextBlock | ImageBlock | DocumentBlock)[] =
    typeof content === 'string'
      ? [{ type: 'text', text: content, path: source.pathOf('content') }]
      : decodeParts(content, source.pathOf('content'), context)
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const images = parts.filter((part) => part.type !== 'text')
  return [...before, { type: 'document', source: { kind: 'text', text }, path, ...name, ...cache }, ...images]
}

function decodeSource(block: Members, others: UnmappedField[]): DocumentBlock['source'] {
  const given = block.object('source')
  if (given === undefined) throw wrong(block.pathOf('source'), 'an object', given)
  const source = new Members(given, block.pathOf('source'))
  const type = source.requiredText('type')
  const read = readSource(type, source)
  source.rest(others)
  return read
}

function readSource(type: string, source: Members): DocumentBlock['source'] {
  switch (type) {
    case 'base64':
      return {
        kind: 'base64',
        mediaType: source.requiredText('media_type'),
        data: source.requiredText('data'),
      }
    case 'text':
      source.any('media_type')
      return { kind: 'text', text: source.requiredText('data') }
    case 'url':
      return { kind: 'url', url: source.requiredText('url') }
    case 'file':
      return { kind: 'file', id: source.requiredText('file_id') }
    default:
      throw invalid(source.pathOf('type'), `expected a known kind of source, got ${quoted(type)}`)
  }
}

function decodeResult(block: Members, context: BlockContext): (TextBlock | ImageBlock | DocumentBlock)[] {
  const content = block.any('content')
  const path = block.pathOf('content')
  if (content === undefined) return []
  return typeof content === 'string'
    ? [{ type: 'text', text: content, path }]
    : decodeParts(content, path, context)
}

function decodeParts(
  content: unknown,
  path: string,
  context: BlockContext,
): (TextBlock | ImageBlock | DocumentBlock)[] {
  if (content === undefined) return []
  if (!Array.isArray(content)) throw wrong(path, 'a string or an array of blocks', content)
  return content.flatMap((item, at) => {
    const part = membersOf(item, `${path}[${at}]`)
    const type = part.requiredText('type')
    if (!partTypes.has(type)) {
      context.others.push({
        path: part.path,
        verdict: type === 'browser_state' ? 'drop' : 'refuse',
        reason: `other formats have no block of the type ${quoted(type)}`,
      })
      return []
    }
    const decoded = decodePart(type, part, context)
    part.rest(context.others)
    return decoded
  })
}

const partTypes: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_reference',
])

/** A seal that we wrapped, or one of this format's own: the client may have talked to the vendor before. */
function openSeal(
  value: string | undefined,
  kind: Seal['kind'],
  envelope: DecodeContext['envelope'],
): Seal | undefined {
  if (value === undefined || value === '') return undefined
  return envelope.open(value) ?? { protocol: protocolName, model: undefined, kind, value }
}

/** A call by code that the vendor runs is still a call: who made it is lost. */
function readCaller(block: Members, others: UnmappedField[]): void {
  const caller = block.object('caller')
  if (caller !== undefined && caller.type !== 'direct') {
    others.push({
      path: block.pathOf('caller'),
      verdict: 'drop',
      reason: 'in other formats only the model itself calls tools',
    })
  }
  block.drop(others, { toolset_name: 'other formats have no sets of tools' })
}

function decodeForeign(block: Members, type: string): Block {
  if (type === 'server_tool_use' || type === 'mcp_tool_use' || type.endsWith('_tool_result')) {
    return foreign(
      block,
      type,
      'drop',
      'what the vendor’s own tools did before is told by the text behind it',
    )
  }
  if (['fallback', 'mcp_tool_listing', 'tool_addition', 'tool_removal'].includes(type)) {
    return foreign(block, type, 'drop', `other formats have no block of the type ${quoted(type)}`)
  }
  return foreign(block, type, 'refuse', `other formats have no block of the type ${quoted(type)}`)
}

/** Its members need not be told one by one. */
function foreign(block: Members, name: string, verdict: 'drop' | 'refuse', reason: string): Block {
  block.readAll()
  return { type: 'foreign', name, verdict, reason, path: block.path }
}

function quoted(type: string): string {
  return JSON.stringify(type.slice(0, 40))
}
