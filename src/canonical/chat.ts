import type { GatewayErrorOptions } from './error.ts'
import type { Json } from './json.ts'

/**
 * A chat request in no vendor's format. A translation decodes the client's format into it and encodes the
 * upstream's format from it. Turns are lists of typed blocks, in order. Each part keeps its `path` in the
 * client's body, such as `messages[2].content[0]`, so that notes and errors name it in the client's own
 * words.
 */
export interface ChatRequest {
  /** The public name that the client asked for. */
  model: string
  stream: boolean
  /** Instructions keep their place among the turns. Neighbours of one role are kept as they came. */
  turns: Turn[]
  tools: Tool[]
  /**
   * The vendor may search the web for the answer. It is not one of `tools`, because some formats have no tool
   * for it.
   */
  webSearch?: WebSearch | undefined
  toolChoice: ToolChoice | undefined
  /**
   * False: at most one tool call in an answer. Undefined: the format's default, which is to allow several.
   */
  parallelToolCalls: boolean | undefined
  maxOutputTokens: number | undefined
  /** Number of answers that the client wants. Default 1. */
  choices: number
  temperature: number | undefined
  topP: number | undefined
  topK: number | undefined
  seed: number | undefined
  frequencyPenalty: number | undefined
  presencePenalty: number | undefined
  /** Token id to bias. */
  logitBias: Json | undefined
  stop: readonly string[]
  /** The client wants log probabilities, with `top` alternatives for each token. */
  logprobs: { top: number } | undefined
  reasoning: ReasoningOptions | undefined
  /** Undefined: plain text. */
  format: AnswerFormat | undefined
  verbosity: string | undefined
  /** An opaque name for the client's end user. */
  userId: string | undefined
  /** The client's own labels. */
  metadata: Json | undefined
  serviceTier: string | undefined
  /** Whether the vendor may keep the answer. Undefined: the client did not say. */
  store: boolean | undefined
  cacheKey: string | undefined
  /** Members of the body that have no place above, each with what a translation does with it. */
  unmapped: UnmappedField[]
  /** The client's own names for the members above, for notes. A member without one has its canonical name. */
  names: Readonly<Partial<Record<ChatField, string>>>
}

/** The members of a request that a note can be about. */
export type ChatField = Exclude<keyof ChatRequest, 'unmapped' | 'names' | 'turns' | 'model' | 'stream'>

export interface UnmappedField {
  path: string
  /**
   * `refuse`: without it the answer would not be what the client asked for. `drop`: the answer is as good
   * without it, and a note says so. `map`: the client gets what it asked for in another way, and a note says
   * how.
   */
  verdict: 'drop' | 'refuse' | 'map'
  /** A sentence for people, without the path. */
  reason: string
  /** What the error says to the client's software, if the translation refuses the member. */
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
  /** A hint that the vendor may cache everything up to here, for `5m` by default. */
  cache?: { ttl: '5m' | '1h' }
}

export interface TextBlock extends FromBody {
  type: 'text'
  text: string
}

export interface ImageBlock extends FromBody {
  type: 'image'
  source: Source
  /** OpenAI's `low`, `high`, `auto`. */
  detail?: string
}

export interface DocumentBlock extends FromBody {
  type: 'document'
  source: Source | { kind: 'text'; text: string }
  /** File name or title. */
  name?: string
}

export interface AudioBlock extends FromBody {
  type: 'audio'
  /** Base64. */
  data: string
  /** `wav`, `mp3`. */
  format: string
}

/** Where the bytes of an image or document are. `file`: one vendor keeps them, and no other can read them. */
export type Source =
  | { kind: 'base64'; mediaType: string; data: string }
  | { kind: 'url'; url: string }
  | { kind: 'file'; id: string }

/** A model's thoughts before its answer. If the text is empty, only the signature counts. */
export interface ReasoningBlock extends FromBody {
  type: 'reasoning'
  text: string
  /** True when `text` is the vendor's summary and not the thought itself. */
  summary: boolean
  signature: ReasoningSignature | undefined
}

/**
 * A vendor's opaque signature of its reasoning, or the reasoning in encrypted form. It goes back only to the
 * protocol and model that made it. A client of another format carries it in an envelope that we sign.
 */
export interface ReasoningSignature {
  /** A name of protocols/protocol.ts. */
  protocol: string
  /** The upstream's model name; undefined if the client speaks that protocol itself. */
  model: string | undefined
  /** `signature` proves the block's text; `encrypted` replaces it. */
  kind: 'signature' | 'encrypted'
  value: string
  /** The vendor's id of the item, if it has one. */
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
  /** Of a function: JSON text, which may be broken. Of a custom tool: free text. */
  input: string
}

export interface ToolResultBlock extends FromBody {
  type: 'tool-result'
  callId: string
  content: (TextBlock | ImageBlock | DocumentBlock)[]
  isError: boolean
}

/** A block that only one vendor's upstreams understand, such as the call of a tool that the vendor runs. */
export interface ForeignBlock extends FromBody {
  type: 'foreign'
  /** The wire's word for it, for notes. */
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
  /** JSON Schema of the input; undefined: no input. */
  parameters: Json | undefined
  strict: boolean | undefined
}

/** A tool that takes free text, which may have to obey a grammar. */
export interface CustomTool extends FromBody {
  type: 'custom'
  name: string
  namespace?: string
  description: string | undefined
  /** The grammar as the format writes it: `{ type, syntax, definition }`. */
  format: Json | undefined
}

/** A search of the web that the vendor runs itself, as the client wants it. Absent: the vendor's default. */
export interface WebSearch extends FromBody {
  /** Only pages of these domains and their subdomains. */
  allowedDomains?: readonly string[]
  /** No pages of these. */
  blockedDomains?: readonly string[]
  /** Where the user is, about. Without members: nowhere in particular. */
  userLocation?: UserLocation
  /** The most searches of one answer. */
  maxUses?: number
  /** How much of the pages the model reads. */
  contextSize?: 'low' | 'medium' | 'high'
  /** The vendor may use only pages that it has kept, and fetch none. */
  offline?: true
}

export interface UserLocation {
  city?: string
  /** Two letters of ISO 3166. */
  country?: string
  region?: string
  /** A name of the IANA database. */
  timezone?: string
}

/** Another tool that the vendor runs itself. No other vendor has it. */
export interface HostedTool extends FromBody {
  type: 'hosted'
  /** The wire's word for it, such as `code_interpreter`. */
  name: string
  /** Why no other format has it, where it is not the vendor who runs it. */
  reason?: string
}

export type ToolChoice =
  | { type: 'none' }
  | { type: 'auto' }
  | { type: 'required' }
  /** `hosted`: a tool that the vendor runs. */
  | { type: 'tool'; name: string; namespace?: string; kind: 'function' | 'custom' | 'hosted' }
  /** The vendor must search the web. */
  | { type: 'web-search' }
  /** Only these may be called. `webSearch`: the vendor may search the web, too. */
  | { type: 'allowed'; mode: 'auto' | 'required'; names: readonly string[]; webSearch?: true }

export interface ReasoningOptions {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; undefined: the model's default. */
  effort: ReasoningEffort | undefined
  /** The most tokens of reasoning, if the client gives a number. */
  budgetTokens: number | undefined
  /** How the client wants to see the reasoning: `auto`, `concise`, `detailed`; `none`: not at all. */
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

/** The effect of a translation on one part of a request. */
export interface TranslationNote {
  /** In the client's body. */
  path: string
  /** `mapped`: in the other format's words; `emulated`: by other means. Only `dropped` loses something. */
  action: 'mapped' | 'defaulted' | 'clamped' | 'dropped' | 'emulated'
  reason: string
}
