import type { CheckFinding } from 'tollgate-verify/format.ts'
import type { Modality, OptionalParameter, Traits } from '../canonical/traits.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** What a probe found about one subject, and the traits that follow from it. */
export interface ProbeFinding {
  verdict: 'yes' | 'no' | 'unknown'
  traits: Traits | undefined
}

/** The findings of a run by the name of the check. */
export type Findings = ReadonlyMap<string, Pick<CheckFinding, 'verdict'>>

/** Returns the verdict on each check. `known` is the offer's traits without probes. */
export function verdictsOf(
  findings: Findings,
  { protocol, known }: { protocol: ProtocolName; known: Traits },
): Map<string, ProbeFinding> {
  const answers = new Map([...findings].map(([name, { verdict }]) => [name, verdictOf(name, verdict)]))
  return new Map(
    [...answers].map(([name, verdict]) => [
      name,
      { verdict, traits: traitsOf(name, verdict, { answers, protocol, known }) },
    ]),
  )
}

/**
 * A server error says nothing about what the server can do, except where a stream is cut. A feature that is
 * ignored is one that the server does not have.
 */
function verdictOf(name: string, verdict: CheckFinding['verdict']): ProbeFinding['verdict'] {
  switch (verdict) {
    case 'ok':
      return 'yes'
    case 'refused':
    case 'ignored':
      return 'no'
    case 'broken':
      return name === 'streaming' ? 'no' : 'unknown'
    case 'unknown':
      return 'unknown'
  }
}

interface Around {
  answers: ReadonlyMap<string, ProbeFinding['verdict']>
  protocol: ProtocolName
  known: Traits
}

function traitsOf(name: string, verdict: ProbeFinding['verdict'], around: Around): Traits | undefined {
  const { answers, known } = around
  if (verdict === 'unknown') return undefined
  const can = verdict === 'yes'
  switch (name) {
    case 'streaming':
      return { streaming: can }
    case 'usage in stream':
      return around.protocol === 'openai-chat' ? { takes: { streamOptions: can } } : undefined
    case 'tools':
      if (can) return { tools: true, forcedTools: true }
      return callsSomewhere(answers) ? { tools: true, forcedTools: false } : { tools: false }
    case 'parallel tools':
      return can ? { tools: true, parallelTools: true } : undefined
    case 'structured output':
      return can ? undefined : { schema: 'none' }
    case 'response_format json_object':
    case 'text.format json_object':
      return { jsonMode: can }
    case 'image input':
    case 'document input':
      return { input: inputOf(answers, known) }
    case 'reasoning':
      return can ? undefined : { thinking: 'none' }
    case 'stop':
      return can ? undefined : { stopMax: 0 }
    case 'n':
      return can ? undefined : { choicesMax: 1 }
    case 'max_completion_tokens':
      return outputBound(can ? 'yes' : 'no', answers.get('max_tokens'))
    case 'max_tokens':
      return outputBound(answers.get('max_completion_tokens'), verdict)
    default: {
      const isUser = name === 'metadata' && around.protocol === 'anthropic-messages'
      const parameter = isUser ? 'userId' : parameters[name]
      return parameter === undefined ? undefined : { takes: { [parameter]: can } }
    }
  }
}

/** The optional parameters by the names of their checks. */
const parameters: Readonly<Record<string, OptionalParameter>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  logit_bias: 'logitBias',
  logprobs: 'logprobs',
  verbosity: 'verbosity',
  service_tier: 'serviceTier',
  store: 'store',
  user: 'userId',
  prompt_cache_key: 'cacheKey',
  metadata: 'metadata',
  'parallel_tool_calls false': 'parallelToolCalls',
  disable_parallel_tool_use: 'parallelToolCalls',
  'text.verbosity': 'verbosity',
  top_logprobs: 'logprobs',
}

/** Whether the model called a tool in another check, in which case it ignores only a demanded tool. */
function callsSomewhere(answers: Around['answers']): boolean {
  return ['tools in stream', 'parallel tools', 'parallel tools in stream', 'second tool turn'].some(
    (name) => answers.get(name) === 'yes',
  )
}

function inputOf(answers: Around['answers'], known: Traits): Modality[] {
  const kinds: Modality[] = ['text']
  const add = (kind: Modality, verdict: ProbeFinding['verdict'] | undefined) => {
    const isKnown = known.input?.includes(kind) ?? kind !== 'video'
    if (verdict === 'yes' || (verdict !== 'no' && isKnown)) kinds.push(kind)
  }
  add('image', answers.get('image input'))
  add('document', answers.get('document input'))
  add('audio', undefined)
  add('video', undefined)
  return kinds
}

function outputBound(
  completion: ProbeFinding['verdict'] | undefined,
  plain: ProbeFinding['verdict'] | undefined,
): Traits | undefined {
  if (completion === 'yes' && plain !== 'yes') return { outputBound: 'max_completion_tokens' }
  if (completion === 'no' && plain === 'yes') return { outputBound: 'max_tokens' }
  return undefined
}
