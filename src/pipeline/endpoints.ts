import type { IncomingHttpHeaders } from 'node:http'
import { tokenFrom } from '../access/authenticate.ts'
import type { ClientAnswerFormat } from '../bodies/answer-choices.ts'
import type { BodyFormat } from '../bodies/read-body.ts'
import type { PlainFormat } from '../protocols/index.ts'
import { clientSide, compactionClient, plainClient } from '../protocols/index.ts'
import type { ClientSide, ProtocolName } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'

/**
 * A public path. The routes, the suggestions of a 404, `GET /v1/models` and /openapi.json are built from
 * these entries.
 */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As documented, such as `/v1/responses/{id}`. */
  path: string
  /** A short summary of its purpose. */
  summary: string
}

/** An endpoint that is served by models. */
export type ModelEndpoint = Endpoint & FormatOf & (TextKind | PlainKind | ImageKind)

/** The format of an endpoint, as a vendor defines it. */
interface FormatOf {
  method: 'POST'
  protocol: ProtocolName
  /** The vendor's reference page. */
  reference: string
  /** The name of the operation in traces, from OpenTelemetry's conventions if they have one. */
  operation: string
}

/** A chat. It is translated for a channel that speaks another format. */
interface TextKind {
  kind: 'text'
  /**
   * Set for an endpoint that compacts a conversation: the path below the base URL of a channel that does this
   * itself.
   */
  compactsAt?: string
}

/** Passed unchanged to a channel that speaks `protocol`. */
export interface PlainKind extends PlainFormat {
  kind: 'plain'
  /** The upstream's path below the channel's base URL. */
  upstreamPath: string
  /**
   * Matches the names of models that are known to answer here, for `GET /v1/models`. A request can name any
   * other model too.
   */
  models: RegExp
}

/** Becomes a job. */
interface ImageKind {
  kind: 'image'
}

const openai = 'https://platform.openai.com/docs/api-reference'

const text = { method: 'POST', kind: 'text', operation: 'chat' } as const
const plain = { method: 'POST', kind: 'plain', protocol: 'openai-chat' } as const

/** All endpoints that are served by models. A new one needs a single entry here. */
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
    operation: 'embeddings',
    summary: 'Embeddings',
    reference: `${openai}/embeddings/create`,
  },
  {
    ...plain,
    path: '/v1/moderations',
    upstreamPath: '/moderations',
    input: 'input',
    models: /moderation/i,
    operation: 'moderation',
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
    operation: 'text_completion',
    summary: 'Completions of a prompt',
    reference: `${openai}/completions/create`,
  },
  {
    ...plain,
    path: '/v1/audio/speech',
    upstreamPath: '/audio/speech',
    input: 'input',
    counts: 'inputCharacters',
    answers: 'audio/*',
    models: /(?<![a-z])tts|speech/i,
    operation: 'speech',
    summary: 'Speech from text',
    reference: `${openai}/audio/createSpeech`,
  },
  {
    method: 'POST',
    kind: 'image',
    operation: 'generate_content',
    path: '/v1/images/generations',
    protocol: 'openai-images',
    summary: 'Image generations',
    reference: `${openai}/images/create`,
  },
]

/** A path and the format of its answers, including errors. */
export interface PathFormat {
  path: string
  protocol: ProtocolName
  client: ClientSide
  /** How to read answers that may be captured; absent when they are not text. */
  answers?: ClientAnswerFormat
  /** True for an endpoint that compacts a conversation. */
  compacts?: boolean
  /** True when no endpoint has this path. */
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

/** How to read the request bodies of an endpoint. */
export function bodyFormatOf(endpoint: ModelEndpoint): BodyFormat {
  const { protocol } = endpoint
  if (endpoint.kind === 'text') return { kind: 'text', protocol, compacts: endpoint.compactsAt !== undefined }
  if (endpoint.kind === 'image') return { kind: 'image' }
  return { kind: 'plain', plain: endpoint }
}

/**
 * The format of a path that no endpoint has. The client made it up, so it can contain secrets, including the
 * client's key.
 */
export function unroutedFormat(path: string, headers: IncomingHttpHeaders): PathFormat {
  return { ...formatAt(unroutedPath(path, headers), headers), isUnrouted: true }
}

/** The path without its query, without secrets, and not longer than a message should be. */
export function unroutedPath(path: string, headers: IncomingHttpHeaders): string {
  const token = tokenFrom(headers)
  return redactText(path.replace(/[?#].*$/s, ''), token === undefined ? [] : [token], pathCharactersMax)
}

const pathCharactersMax = 128

/**
 * Returns the format of any path, including one that does not exist. A path that resembles a format's paths
 * is answered in that format. On every other path, clients that send the Messages version header are answered
 * in the Messages format, and all others in OpenAI's.
 */
export function formatAt(path: string, headers: IncomingHttpHeaders = {}): PathFormat {
  const protocol = protocolOf(path, headers)
  return { path, protocol, client: clientOf(protocol) }
}

/** An image endpoint reports errors like `openai-chat`, since both formats are OpenAI's. */
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
