import type { Json } from './json.ts'

/**
 * A chat as no vendor writes it: what every format's requests are read into and written from when client and upstream
 * speak differently. Lists of typed blocks, in order. Every place that came from the client's body bears its `path`
 * there, such as `messages[2].content[0]`, so that what is lost or refused can be named in the client's own words.
 */
export interface ChatRequest {
  /** The public name that the client asked for. */
  model: string
  stream: boolean
  /** Instructions keep their place among the turns. Neighbours of one role are kept as they came. */
  turns: Turn[]
  tools: Tool[]
  toolChoice: ToolChoice | undefined
  /** False: at most one tool call in an answer. Undefined: the format's default, which is to allow them. */
  parallelToolCalls: boolean | undefined
  maxOutputTokens: number | undefined
  /** Number of answers asked for; 1 unless the client said otherwise. */
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
  /** Asked for log probabilities; `top`: how many alternatives for each token. */
  logprobs: { top: number } | undefined
  reasoning: ReasoningWish | undefined
  /** Undefined: plain text. */
  format: AnswerFormat | undefined
  verbosity: string | undefined
  /** An opaque name for the client's end user. */
  userId: string | undefined
  /** The client's own labels. */
  metadata: Json | undefined
  serviceTier: string | undefined
  /** Whether the vendor may keep the answer. Undefined: not said. */
  store: boolean | undefined
  cacheKey: string | undefined
  /** Members of the body without a meaning here, each with what becomes of it when it has to be translated. */
  unmapped: UnmappedField[]
  /** The client's own names for the members above, for notes; a member that is missing here has its canonical name. */
  names: Readonly<Partial<Record<ChatField, string>>>
}

/** The members of a request that a note can be about. */
export type ChatField = Exclude<keyof ChatRequest, 'unmapped' | 'names' | 'turns' | 'model' | 'stream'>

export interface UnmappedField {
  path: string
  /**
   * `refuse`: the meaning would change without it. `drop`: the answer is as good without it, and a note says so.
   * `map`: the client gets what it asked for in another way, and a note says how.
   */
  verdict: 'drop' | 'refuse' | 'map'
  /** A sentence for people, without the path. */
  reason: string
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
  /** A hint that everything up to here may be cached; `5m` unless said otherwise. */
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

/** Where the bytes of an image or document are. `file`: kept by one vendor, meaningless to every other. */
export type Source =
  | { kind: 'base64'; mediaType: string; data: string }
  | { kind: 'url'; url: string }
  | { kind: 'file'; id: string }

/** What a model thought before it answered. Text may be empty: then only the signature counts. */
export interface ReasoningBlock extends FromBody {
  type: 'reasoning'
  text: string
  /** True when `text` is the vendor's summary and not the thought itself. */
  summary: boolean
  signature: ReasoningSignature | undefined
}

/**
 * A vendor's opaque proof or encryption of reasoning. It only ever goes back to the protocol and model it came from;
 * between, it travels through a foreign client in a signed envelope.
 */
export interface ReasoningSignature {
  /** A name of protocols/protocol.ts. */
  protocol: string
  /** The upstream's model name; undefined where the client speaks that protocol itself. */
  model: string | undefined
  /** `signature` proves the text beside it, `encrypted` replaces it. */
  kind: 'signature' | 'encrypted'
  value: string
  /** The vendor's id of the item, where it has one. */
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
  /** JSON text for a function, which may not parse; free text for a custom tool. */
  input: string
}

export interface ToolResultBlock extends FromBody {
  type: 'tool-result'
  callId: string
  content: (TextBlock | ImageBlock | DocumentBlock)[]
  isError: boolean
}

/** A block that only one vendor's upstreams understand, such as a server tool's call: kept for its own protocol. */
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

/** A tool that takes free text, perhaps bound by a grammar. */
export interface CustomTool extends FromBody {
  type: 'custom'
  name: string
  namespace?: string
  description: string | undefined
  /** The grammar as the format writes it: `{ type, syntax, definition }`. */
  format: Json | undefined
}

/** A tool that the vendor runs itself. No other vendor has the same. */
export interface HostedTool extends FromBody {
  type: 'hosted'
  /** The wire's word for it, such as `web_search`. */
  name: string
}

export type ToolChoice =
  | { type: 'none' }
  | { type: 'auto' }
  | { type: 'required' }
  /** `hosted`: one that only the vendor has. */
  | { type: 'tool'; name: string; namespace?: string; kind: 'function' | 'custom' | 'hosted' }
  /** Only these may be called. */
  | { type: 'allowed'; mode: 'auto' | 'required'; names: readonly string[] }

export interface ReasoningWish {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; undefined: the model's default. */
  effort: ReasoningEffort | undefined
  /** Tokens it may think for, where the client counts them. */
  budgetTokens: number | undefined
  /** Whether the client wants to see it, and how: `auto`, `concise`, `detailed`; `none`: not at all. */
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

/** What became of one place of a request that was translated. */
export interface TranslationNote {
  /** In the client's body. */
  path: string
  /** `mapped`: said in other words; `emulated`: done by other means; only `dropped` loses something. */
  action: 'mapped' | 'defaulted' | 'clamped' | 'dropped' | 'emulated'
  reason: string
}
