import type { GatewayErrorOptions } from './error.ts'
import type { Json } from './json.ts'

/**
 * A chat request in a vendor-neutral format. A translation decodes the client's format into it and encodes it
 * into the upstream's format. A turn is an ordered list of typed blocks. Each part keeps its `path` in the
 * client's body, such as `messages[2].content[0]`, so that notes and errors use the client's own names.
 */
export interface ChatRequest {
  /** The public model name that the client sent. */
  model: string
  stream: boolean
  /** Instructions keep their position among the turns. Adjacent turns of the same role are not merged. */
  turns: Turn[]
  tools: Tool[]
  /**
   * Set if the vendor can search the web for the answer. Not part of `tools`, because in some formats web
   * search is not a tool.
   */
  webSearch?: WebSearch | undefined
  toolChoice: ToolChoice | undefined
  /** False: at most one tool call per answer. Undefined: the format's default, which is to allow several. */
  parallelToolCalls: boolean | undefined
  maxOutputTokens: number | undefined
  /** The number of answers that the client requests; 1 by default. */
  choices: number
  temperature: number | undefined
  topP: number | undefined
  topK: number | undefined
  seed: number | undefined
  frequencyPenalty: number | undefined
  presencePenalty: number | undefined
  /** Maps token ids to biases. */
  logitBias: Json | undefined
  stop: readonly string[]
  /** The client requests log probabilities, with `top` alternatives for each token. */
  logprobs: { top: number } | undefined
  reasoning: ReasoningOptions | undefined
  /** Undefined: plain text. */
  format: AnswerFormat | undefined
  verbosity: string | undefined
  /** An opaque identifier of the client's end user. */
  userId: string | undefined
  /** Labels set by the client. */
  metadata: Json | undefined
  serviceTier: string | undefined
  /** Whether the vendor may store the answer. Undefined: not specified by the client. */
  store: boolean | undefined
  cacheKey: string | undefined
  /** Body members with no counterpart above, each with how a translation handles it. */
  unmapped: UnmappedField[]
  /**
   * The client's names for the members above, used in notes. A member that is not listed uses its canonical
   * name.
   */
  names: Readonly<Partial<Record<ChatField, string>>>
}

/** The request members that a note can refer to. */
export type ChatField = Exclude<keyof ChatRequest, 'unmapped' | 'names' | 'turns' | 'model' | 'stream'>

export interface UnmappedField {
  path: string
  /**
   * `refuse`: without the member, the answer would not be what the client requested. `drop`: the answer is as
   * useful without it, and a note reports that. `map`: the request is fulfilled in another way, and a note
   * explains how.
   */
  verdict: 'drop' | 'refuse' | 'map'
  /** A human-readable sentence, without the path. */
  reason: string
  /** Machine-readable error details, used if the translation refuses the member. */
  refusal?: Pick<GatewayErrorOptions, 'code' | 'details'>
}

export interface Turn {
  role: 'system' | 'developer' | 'user' | 'assistant'
  blocks: Block[]
  path: string
}

export type Block =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | AudioBlock
  | ReasoningBlock
  | RefusalBlock
  | ToolCallBlock
  | ToolResultBlock
  | ForeignBlock

interface FromBody {
  path: string
  /** A hint that the vendor may cache everything up to this point, for `5m` by default. */
  cache?: { ttl: '5m' | '1h' }
}

export interface TextBlock extends FromBody {
  type: 'text'
  text: string
}

export interface ImageBlock extends FromBody {
  type: 'image'
  source: Source
  /** OpenAI's `low`, `high` or `auto`. */
  detail?: string
}

export interface DocumentBlock extends FromBody {
  type: 'document'
  source: Source | { kind: 'text'; text: string }
  /** The file name or title. */
  name?: string
}

export interface AudioBlock extends FromBody {
  type: 'audio'
  /** Base64. */
  data: string
  /** `wav` or `mp3`. */
  format: string
}

/** The location of an image's or document's bytes. `file`: stored at one vendor, and readable only there. */
export type Source =
  | { kind: 'base64'; mediaType: string; data: string }
  | { kind: 'url'; url: string }
  | { kind: 'file'; id: string }

/** The model's reasoning before its answer. If the text is empty, only the signature matters. */
export interface ReasoningBlock extends FromBody {
  type: 'reasoning'
  text: string
  /** True if `text` is the vendor's summary of the reasoning rather than the reasoning itself. */
  summary: boolean
  signature: ReasoningSignature | undefined
}

/**
 * A vendor's opaque signature of its reasoning, or the encrypted reasoning. It is sent back only to the
 * protocol and model that produced it. Clients of other formats carry it in an envelope that we sign.
 */
export interface ReasoningSignature {
  /** A protocol name from protocols/protocol.ts. */
  protocol: string
  /** The upstream's model name; undefined if the client speaks that protocol itself. */
  model: string | undefined
  /** `signature` authenticates the block's text; `encrypted` replaces it. */
  kind: 'signature' | 'encrypted'
  value: string
  /** The vendor's item id, if any. */
  id?: string
}

export interface RefusalBlock extends FromBody {
  type: 'refusal'
  text: string
}

export interface ToolCallBlock extends FromBody {
  type: 'tool-call'
  id: string
  name: string
  /** The Responses format groups tools in namespaces. */
  namespace?: string
  kind: 'function' | 'custom'
  /** For a function: JSON text, which may be invalid. For a custom tool: free text. */
  input: string
}

export interface ToolResultBlock extends FromBody {
  type: 'tool-result'
  callId: string
  content: (TextBlock | ImageBlock | DocumentBlock)[]
  isError: boolean
}

/** A block that only one vendor's upstreams understand, such as a call to a tool that the vendor runs. */
export interface ForeignBlock extends FromBody {
  type: 'foreign'
  /** The name used on the wire, for notes. */
  name: string
  verdict: 'drop' | 'refuse'
  reason: string
}

export type Tool = FunctionTool | CustomTool | HostedTool

export interface FunctionTool extends FromBody {
  type: 'function'
  name: string
  namespace?: string
  description: string | undefined
  /** The JSON Schema of the input; undefined if there is no input. */
  parameters: Json | undefined
  strict: boolean | undefined
}

/** A tool with free-text input, optionally constrained by a grammar. */
export interface CustomTool extends FromBody {
  type: 'custom'
  name: string
  namespace?: string
  description: string | undefined
  /** The grammar in the client's format: `{ type, syntax, definition }`. */
  format: Json | undefined
}

/** The settings of a web search that the vendor runs itself. An absent member means the vendor's default. */
export interface WebSearch extends FromBody {
  /** Only search pages on these domains and their subdomains. */
  allowedDomains?: readonly string[]
  /** Exclude pages on these domains. */
  blockedDomains?: readonly string[]
  /** The user's approximate location. Without members, the location is unspecified. */
  userLocation?: UserLocation
  /** The maximum number of searches per answer. */
  maxUses?: number
  /** How much page content the model reads. */
  contextSize?: 'low' | 'medium' | 'high'
  /** The vendor may use only cached pages and must not fetch any. */
  offline?: true
}

export interface UserLocation {
  city?: string
  /** A two-letter ISO 3166 code. */
  country?: string
  region?: string
  /** An IANA time zone name. */
  timezone?: string
}

/** Another tool that the vendor runs itself and no other vendor supports. */
export interface HostedTool extends FromBody {
  type: 'hosted'
  /** The name used on the wire, such as `code_interpreter`. */
  name: string
  /** Why no other format supports the tool, if the vendor is not the one that runs it. */
  reason?: string
}

export type ToolChoice =
  | { type: 'none' }
  | { type: 'auto' }
  | { type: 'required' }
  /** `hosted`: run by the vendor. */
  | { type: 'tool'; name: string; namespace?: string; kind: 'function' | 'custom' | 'hosted' }
  /** The vendor must search the web. */
  | { type: 'web-search' }
  /** Only these tools can be called. `webSearch`: the vendor can search the web as well. */
  | { type: 'allowed'; mode: 'auto' | 'required'; names: readonly string[]; webSearch?: true }

export interface ReasoningOptions {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`; undefined: the model's default. */
  effort: ReasoningEffort | undefined
  /** The maximum number of reasoning tokens, if the client sets one. */
  budgetTokens: number | undefined
  /** How the client wants the reasoning to be shown: `auto`, `concise` or `detailed`; `none`: not at all. */
  summary: string | undefined
}

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

export type AnswerFormat =
  | { type: 'json_object' }
  | {
      type: 'json_schema'
      name: string | undefined
      description: string | undefined
      schema: Json
      strict: boolean | undefined
    }

/** How a translation changed one part of a request. */
export interface TranslationNote {
  /** The path in the client's body. */
  path: string
  /**
   * `mapped`: expressed in the other format's terms; `emulated`: achieved by other means. Only `dropped`
   * loses something.
   */
  action: 'mapped' | 'defaulted' | 'clamped' | 'dropped' | 'emulated'
  reason: string
}
