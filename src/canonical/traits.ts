import type { ReasoningEffort } from './chat.ts'

/**
 * What an offer accepts and returns in one protocol. If a trait is absent, it is unknown: the protocol's
 * default applies, and nothing is changed or refused because of it.
 *
 * The names match those of `traits` in gateway.yaml, which use `_` between words.
 */
export interface Traits {
  /** The kinds of input it reads. */
  input?: readonly Modality[]
  /** The kinds of output it produces. */
  output?: readonly Modality[]
  /** Supports tools. */
  tools?: boolean
  /** Can make several calls in one answer. */
  parallelTools?: boolean
  /** Obeys a tool choice that requires a call. */
  forcedTools?: boolean
  /** Accepts a tool choice that requires a call while thinking is on. */
  forcedToolsWhileThinking?: boolean
  /** Accepts `strict` on functions. */
  strictTools?: boolean
  /** Accepts tools with free-text input, and grammars for them. */
  customTools?: boolean
  /** Accepts tools together with a JSON format. */
  toolsWithFormat?: boolean
  /** Accepts a tool choice that requires a call together with a JSON format. */
  forcedToolsWithFormat?: boolean
  /** Accepts tools while thinking is on. */
  toolsWhileThinking?: boolean
  /** Optional parameters that it supports (true), or refuses or ignores (false). */
  takes?: Readonly<Partial<Record<OptionalParameter, boolean>>>
  /** Accepts temperature and top_p in the same request. */
  temperatureWithTopP?: boolean
  temperatureMax?: number
  /** False: `temperature`, `topP` and `logprobs` are accepted only in requests without thinking. */
  samplingWhileThinking?: boolean
  /** The maximum number of stop sequences; 0: none are accepted. */
  stopMax?: number
  /** The maximum number of answers per request. */
  choicesMax?: number
  /** How a request turns thinking on; `none`: parameters for thinking are refused. */
  thinking?: ThinkingStyle
  /** False: thinking cannot be turned off. */
  thinkingOff?: boolean
  /** Thinks if the request does not mention thinking. */
  thinkingDefault?: boolean
  /**
   * The member of a Chat Completions request that turns thinking on and off. Absent: the effort `none` turns
   * it off.
   */
  thinkingSwitch?: 'thinking' | 'enable_thinking'
  /** The bounds of `thinking: budget`, in tokens. */
  thinkingBudgetMin?: number
  thinkingBudgetMax?: number
  /** The supported efforts, from lowest to highest. */
  effortLevels?: readonly ReasoningEffort[]
  /** The effort of a request that does not set one; `none`: such a request is answered without thinking. */
  effortDefault?: ReasoningEffort
  /** The member of a Chat Completions request that limits the output. */
  outputBound?: 'max_tokens' | 'max_completion_tokens'
  /** Continues an assistant turn at the end of the conversation. */
  prefill?: boolean
  /** The JSON Schemas accepted for an answer; `none`: schemas are not supported. */
  schema?: SchemaSubset
  /** Supports answers that are arbitrary JSON objects. */
  jsonMode?: boolean
  /** Accepts the `developer` role. */
  developerRole?: boolean
  /** Accepts instructions between other turns. */
  laterInstructions?: boolean
  /** Accepts several messages of instructions. False: only one, before all other turns. */
  severalInstructions?: boolean
  /** Accepts a turn's text in several parts. */
  textParts?: boolean
  /** Accepts a user turn directly after tool results. */
  userAfterToolResults?: boolean
  /**
   * Whether the assistant messages of Chat Completions need the thoughts of earlier turns. `required`:
   * messages with calls need the member. `text`: they need it, and it must not be empty. `refused`: no
   * message can have it.
   */
  thoughtsInHistory?: 'required' | 'text' | 'refused'
  /** The accepted call ids: any, or only ids of nine letters and digits. */
  callIds?: 'any' | 'nine'
  /**
   * How a prefix is cached. `marks` and `breakpoints`: where the request marks it, `breakpoints` in OpenAI's
   * syntax. `automatic`: without marks.
   */
  caching?: 'marks' | 'breakpoints' | 'automatic' | 'none'
  /** Fetches images and documents from https URLs. */
  fetchesUrls?: boolean
  /** Can search the web itself on request. */
  webSearch?: boolean
  /** Supports streaming. */
  streaming?: boolean
  /** In tokens, for input and output together. */
  contextLength?: number
  /** In tokens, including thinking. */
  maxOutputTokens?: number
  /** The lowest output limit that it accepts, in tokens: 1 to 16. */
  outputTokensMin?: number
  /** The protocols in which its vendor offers it. */
  protocols?: readonly string[]
}

export const modalities = ['text', 'image', 'document', 'audio', 'video'] as const
export type Modality = (typeof modalities)[number]

/**
 * How a request asks a model to think. `budget`: with a number of tokens. `adaptive`: the model decides,
 * within an effort. `effort`: with an effort. `switch`: thinking is either on or off.
 */
export const thinkingStyles = ['none', 'budget', 'adaptive', 'effort', 'switch'] as const
export type ThinkingStyle = (typeof thinkingStyles)[number]

/**
 * The subsets of JSON Schema that vendors accept. `src/protocols/schema-subset.ts` rewrites a schema to fit
 * one of them.
 */
export const schemaSubsets = ['any', 'anthropic', 'openai-strict', 'gemini', 'none'] as const
export type SchemaSubset = (typeof schemaSubsets)[number]

/**
 * Parameters that can be removed without much change to the meaning of a request, by their canonical names as
 * in `ChatRequest`.
 */
export const optionalParameters = [
  'temperature',
  'topP',
  'topK',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'logitBias',
  'logprobs',
  'verbosity',
  'serviceTier',
  'store',
  'metadata',
  'userId',
  'cacheKey',
  'parallelToolCalls',
  'streamOptions',
  'include',
] as const
export type OptionalParameter = (typeof optionalParameters)[number]

/**
 * Whether a model can be forced to call a tool; undefined if unknown. A model that always thinks cannot,
 * unless it supports forced calls while thinking.
 */
export function canForceTools(traits: Traits): boolean | undefined {
  const { tools, forcedTools, forcedToolsWhileThinking, thinkingOff } = traits
  if (tools === false || (thinkingOff === false && forcedToolsWhileThinking === false)) return false
  return forcedTools
}

/** Whether a model is known to have a parameter that turns its thinking off. */
export function canTurnThinkingOff({ thinking, thinkingOff, thinkingSwitch, effortLevels }: Traits): boolean {
  if (thinkingOff === false || thinking === 'none') return false
  if (thinking === 'budget' || thinking === 'switch' || thinkingSwitch !== undefined) return true
  return effortLevels?.includes('none') === true
}

/** Merges traits. Later ones take precedence for each trait, and for each parameter in `takes`. */
export function mergeTraits(...all: readonly (Traits | undefined)[]): Traits {
  const merged: Traits = Object.assign({}, ...all)
  const takes: Traits['takes'] = Object.assign({}, ...all.map((traits) => traits?.takes))
  if (takes !== undefined && Object.keys(takes).length > 0) merged.takes = takes
  return merged
}
