import type { IncomingHttpHeaders } from 'node:http'
import type { ClientAnswerFormat } from '../bodies/answer-choices.ts'
import type { BodyFormat } from '../bodies/read-body.ts'
import type { PlainFormat } from '../protocols/index.ts'
import { clientSide, compactionClient, plainClient } from '../protocols/index.ts'
import type { ClientSide, ProtocolName } from '../protocols/protocol.ts'

/**
 * A public path. We make the routes, the advice of a 404, `GET /v1/models` and /openapi.json from these
 * entries.
 */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As documented, such as `/v1/responses/{id}`. */
  path: string
  /** Its purpose in a few words. */
  summary: string
}

/** An endpoint that models answer. */
export type ModelEndpoint = Endpoint & FormatOf & (TextKind | PlainKind | ImageKind)

/** The format of an endpoint, as a vendor defines it. */
interface FormatOf {
  method: 'POST'
  protocol: ProtocolName
  /** The vendor's reference page. */
  reference: string
}

/** A chat. We translate it for a channel that speaks another format. */
interface TextKind {
  kind: 'text'
  /** It compacts a conversation: this is the path below a channel that does so itself. */
  compactsAt?: string
}

/** Passed unchanged to a channel that speaks `protocol`. */
export interface PlainKind extends PlainFormat {
  kind: 'plain'
  /** The upstream's path below the channel's base URL. */
  upstreamPath: string
  /**
   * Names of models that are known to answer here, for `GET /v1/models`. A request may name any other model
   * too.
   */
  models: RegExp
}

/** Becomes a job. */
interface ImageKind {
  kind: 'image'
}

const openai = 'https://platform.openai.com/docs/api-reference'

const text = { method: 'POST', kind: 'text' } as const
const plain = { method: 'POST', kind: 'plain', protocol: 'openai-chat' } as const

/** All endpoints that models answer. A new one is one entry here. */
export const modelEndpoints: readonly ModelEndpoint[] = [
  {
    ...text,
    path: '/v1/chat/completions',
    protocol: 'openai-chat',
    summary: 'Chat completions',
    reference: `${openai}/chat/create`,
  },
  {
    ...text,
    path: '/v1/responses',
    protocol: 'openai-responses',
    summary: 'Responses',
    reference: `${openai}/responses/create`,
  },
  {
    ...text,
    path: '/v1/responses/compact',
    protocol: 'openai-responses',
    compactsAt: '/responses/compact',
    summary: 'Compaction of a conversation',
    reference: `${openai}/responses/compact`,
  },
  {
    ...text,
    path: '/v1/messages',
    protocol: 'anthropic-messages',
    summary: 'Messages',
    reference: 'https://docs.anthropic.com/en/api/messages',
  },
  {
    ...plain,
    path: '/v1/embeddings',
    upstreamPath: '/embeddings',
    input: 'input',
    models: /embed/i,
    summary: 'Embeddings',
    reference: `${openai}/embeddings/create`,
  },
  {
    ...plain,
    path: '/v1/moderations',
    upstreamPath: '/moderations',
    input: 'input',
    models: /moderation/i,
    summary: 'Moderations',
    reference: `${openai}/moderations/create`,
  },
  {
    ...plain,
    path: '/v1/completions',
    upstreamPath: '/completions',
    input: 'prompt',
    writes: true,
    models: /instruct|davinci|babbage/i,
    summary: 'Completions of a prompt',
    reference: `${openai}/completions/create`,
  },
  {
    method: 'POST',
    kind: 'image',
    path: '/v1/images/generations',
    protocol: 'openai-images',
    summary: 'Image generations',
    reference: `${openai}/images/create`,
  },
]

/** A path, and the format of its answers, errors included. */
export interface PathFormat {
  path: string
  protocol: ProtocolName
  client: ClientSide
  /** How to read answers that may be captured; absent: they are not text. */
  answers?: ClientAnswerFormat
  /** True: it compacts a conversation. */
  compacts?: boolean
  /** True: no endpoint has this path. */
  isUnrouted?: boolean
}

/** The format of an endpoint's requests and answers. */
export function formatOf(endpoint: ModelEndpoint): PathFormat {
  const client = clientFor(endpoint)
  const compacts = endpoint.kind === 'text' && endpoint.compactsAt !== undefined
  const format = { path: endpoint.path, protocol: endpoint.protocol, client, compacts }
  const answers = answersOf(endpoint)
  return answers === undefined ? format : { ...format, answers }
}

function clientFor(endpoint: ModelEndpoint): ClientSide {
  if (endpoint.kind === 'plain') return plainClient(endpoint)
  if (endpoint.kind === 'text' && endpoint.compactsAt !== undefined) return compactionClient()
  return clientOf(endpoint.protocol)
}

function answersOf(endpoint: ModelEndpoint): ClientAnswerFormat | undefined {
  if (endpoint.kind === 'text') return endpoint.compactsAt === undefined ? endpoint.protocol : undefined
  return endpoint.kind === 'plain' && endpoint.writes === true ? 'completions' : undefined
}

/** How to read the bodies of an endpoint. */
export function bodyFormatOf(endpoint: ModelEndpoint): BodyFormat {
  const { protocol } = endpoint
  if (endpoint.kind === 'text') return { kind: 'text', protocol, compacts: endpoint.compactsAt !== undefined }
  if (endpoint.kind === 'image') return { kind: 'image' }
  const { input, writes = false } = endpoint
  return { kind: 'plain', plain: { input, writes } }
}

/**
 * The format of any path, also of one that does not exist: a path that looks like a format's gets answers in
 * that format. Every other path speaks the Messages format to clients that send its version header, and
 * OpenAI's to all others.
 */
export function formatAt(path: string, headers: IncomingHttpHeaders = {}): PathFormat {
  const protocol = protocolOf(path, headers)
  return { path, protocol, client: clientOf(protocol) }
}

/** An image endpoint answers errors as `openai-chat` does: both formats are OpenAI's. */
function clientOf(protocol: ProtocolName): ClientSide {
  return clientSide(protocol === 'openai-images' ? 'openai-chat' : protocol)
}

function protocolOf(path: string, headers: IncomingHttpHeaders): ProtocolName {
  if (/\/messages(\/|$)/.test(path)) return 'anthropic-messages'
  if (/\/responses(\/|$)/.test(path)) return 'openai-responses'
  if (/\/chat\/completions(\/|$)/.test(path)) return 'openai-chat'
  if (/\/images(\/|$)/.test(path)) return 'openai-images'
  return headers['anthropic-version'] === undefined ? 'openai-chat' : 'anthropic-messages'
}
