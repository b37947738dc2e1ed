import { vendors } from '../catalog/traits/vendors.ts'
import { isMap } from './cells.ts'
import { product } from './decimal.ts'
import type { ChannelDraft, ModelDraft, SecretText } from './imported.ts'
import { bedrockParameters, bedrockTarget } from './lite-llm-bedrock.ts'
import { providers } from './lite-llm-places.ts'
import { UniqueNames, type VariableNames, visibleName } from './names.ts'
import { allowedHosts } from './private-hosts.ts'
import type { Problems } from './problems.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Converts the deployments of a `model_list`. Deployments with the same address and key become one channel.
 */
export class Deployments {
  readonly channels: ChannelDraft[] = []
  readonly models = new Map<string, ModelDraft>()
  readonly #byPlace = new Map<string, ChannelDraft[]>()
  readonly #names = new UniqueNames()
  readonly #variables: VariableNames
  readonly #env: Environment
  readonly #problems: Problems

  constructor(env: Environment, variables: VariableNames, problems: Problems) {
    this.#env = env
    this.#variables = variables
    this.#problems = problems
  }

  add(entry: Record<string, unknown>, at: number): void {
    const name = typeof entry.model_name === 'string' ? entry.model_name : ''
    const where = `model_list[${at}] "${name.slice(0, 80)}"`
    const params = isMap(entry.litellm_params) ? entry.litellm_params : {}
    const info = isMap(entry.model_info) ? entry.model_info : {}
    const target = this.#targetOf(name, params, where)
    if (target === undefined) return
    const { place, key, upstream, title } = target
    const draft = this.#channel({ place, key, title, model: name, priority: priorityOf(params) })
    draft.models[name] = upstream
    const weight = Number(params.weight)
    if (Number.isSafeInteger(weight) && weight > 0) draft.weight = weight
    const concurrency = Number(params.max_parallel_requests)
    if (Number.isSafeInteger(concurrency) && concurrency > 0) {
      draft.concurrency = concurrency
      this.#problems.changed(where, 'its max_parallel_requests limits the whole channel, in each process')
    }
    this.#tellLost(params, where)
    this.#describe(name, { ...params, ...info }, where)
  }

  #targetOf(name: string, params: Record<string, unknown>, where: string) {
    const problems = this.#problems
    if (visibleName(name, 256) !== name) {
      problems.lost(where, 'its model_name is not a valid model name in Tollgate')
      return undefined
    }
    const model = typeof params.model === 'string' ? params.model : ''
    const slash = model.indexOf('/')
    const stated = typeof params.custom_llm_provider === 'string' ? params.custom_llm_provider : undefined
    const before = slash === -1 ? undefined : model.slice(0, slash)
    const isNamed = before !== undefined && (stated === undefined || before === stated)
    const provider = stated ?? before ?? guessed(model)
    const upstream = isNamed ? model.slice(slash + 1) : model
    if (provider === 'bedrock') return this.#bedrockOf(upstream, params, where)
    const known = provider === undefined ? undefined : providers.get(provider)
    if (provider === undefined || known === undefined || upstream === '') {
      problems.lost(
        where,
        `its provider in "${model.slice(0, 80)}" is unknown or speaks no protocol that Tollgate supports`,
      )
      return undefined
    }
    const hasStar = name.includes('*') || upstream.includes('*')
    if (hasStar && (name !== '*' || upstream !== '*')) {
      problems.lost(where, 'it contains a pattern with *, but only "*" on its own is supported')
      return undefined
    }
    const base = this.#textOf(params.api_base ?? params.base_url)?.replace(/\/+$/, '')
    if (base === '') {
      problems.lost(where, 'the environment variable for its api_base is not set')
      return undefined
    }
    const own = known.vendor === undefined ? {} : vendors[known.vendor].baseUrls
    if (base === undefined && Object.keys(own).length === 0) {
      problems.lost(where, `it has no api_base, and there is no default for ${provider}`)
      return undefined
    }
    if (base !== undefined && !URL.canParse(base)) {
      problems.lost(where, 'its api_base is not a valid URL')
      return undefined
    }
    if (provider === 'azure')
      problems.changed(where, 'Azure is called through its v1 API, without an api_version')
    const allowed = base === undefined ? undefined : allowedHosts(base)
    if (allowed !== undefined)
      problems.note(where, 'its upstream is in a private network; the channel is allowed to call it')
    const place = {
      ...(known.vendor !== undefined && { vendor: known.vendor }),
      ...(base !== undefined && { protocols: protocolsAt(base, provider, known.at) }),
      ...(allowed !== undefined && { allow_private_address: allowed }),
    }
    return {
      place,
      key: params.api_key,
      upstream,
      title: base === undefined ? provider : `${provider} ${new URL(base).host}`,
    }
  }

  #bedrockOf(model: string, params: Record<string, unknown>, where: string) {
    const target = bedrockTarget(model, params, (value) => this.#textOf(value) || undefined)
    if (typeof target !== 'string') return { ...target, title: `bedrock ${target.region}` }
    this.#problems.lost(where, target)
    return undefined
  }

  /**
   * A channel can offer a model only once, so a second deployment of a model with the same address becomes a
   * separate channel.
   */
  #channel(target: {
    place: Pick<ChannelDraft, 'vendor' | 'protocols' | 'allow_private_address' | 'auth'>
    key: unknown
    title: string
    model: string
    priority: number
  }): ChannelDraft {
    const identity = JSON.stringify([target.place, target.key ?? null, target.priority])
    const there = this.#byPlace.get(identity) ?? []
    const free = there.find(({ models }) => !Object.hasOwn(models, target.model))
    if (free !== undefined) return free
    const name = this.#names.give(target.title, `#${this.channels.length + 1}`)
    const draft: ChannelDraft = {
      name,
      ...target.place,
      api_keys: [
        Array.isArray(target.key) && target.key.length > 0
          ? target.key.map((part, at) => this.#secretOf(part, name, String(at + 1)))
          : this.#secretOf(target.key, name),
      ],
      models: {},
      priority: target.priority,
      disabled: false,
    }
    this.channels.push(draft)
    this.#byPlace.set(identity, [...there, draft])
    return draft
  }

  #secretOf(key: unknown, channel: string, part?: string): SecretText {
    const variable = environVariable(key)
    if (variable !== undefined) return { variable, value: undefined }
    const words = part === undefined ? ['key'] : ['key', part]
    return { variable: this.#variables.give(channel, ...words), value: typeof key === 'string' ? key : '' }
  }

  /** Returns an empty string if its variable is not set. */
  #textOf(value: unknown): string | undefined {
    const variable = environVariable(value)
    if (variable !== undefined) return this.#env[variable] ?? ''
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  #tellLost(params: Record<string, unknown>, where: string): void {
    for (const [name, value] of Object.entries(params)) {
      if (value !== null && !carried.has(name)) this.#problems.lost(where, `its ${name.slice(0, 60)}`)
    }
  }

  #describe(id: string, facts: Record<string, unknown>, where: string): void {
    const price = Object.fromEntries(
      Object.entries(priceParts).flatMap(([part, name]) => {
        const usd = facts[name] === undefined ? undefined : product(String(facts[name]), '1000000')
        return usd === undefined ? [] : [[part, usd] as const]
      }),
    )
    const draft: ModelDraft = {
      id,
      ...sized('context_length', facts.max_input_tokens),
      ...sized('max_output_tokens', facts.max_output_tokens),
      ...(Object.keys(price).length > 0 && { price }),
    }
    const before = this.models.get(id)
    if (before === undefined) this.models.set(id, draft)
    else if (JSON.stringify({ ...before, fallbacks: [] }) !== JSON.stringify({ ...draft, fallbacks: [] })) {
      this.#problems.changed(
        where,
        'its price or size differs from that of the first deployment of the model, which is used',
      )
    }
  }
}

/** Parses `os.environ/NAME`. */
export function environVariable(value: unknown): string | undefined {
  return typeof value === 'string' ? /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1] : undefined
}

/**
 * LiteLLM looks up names without a provider in its own list. Only the names of these two providers can be
 * recognised here.
 */
export function guessed(model: string): string | undefined {
  if (openaiNames.test(model)) return 'openai'
  return model.startsWith('claude-') ? 'anthropic' : undefined
}

const openaiNames =
  /^(gpt-|o\d|chatgpt-|ft:|dall-e-|text-embedding-|text-moderation-|omni-moderation-|babbage-|davinci-|whisper-|tts-)/

function protocolsAt(
  base: string,
  provider: string,
  at: Readonly<Record<string, string>>,
): Record<string, string> {
  const clean = provider === 'anthropic' ? base.replace(/\/v1(\/messages)?$/, '') : base
  return Object.fromEntries(
    Object.entries(at).map(([protocol, path]) => [protocol, clean.endsWith(path) ? clean : clean + path]),
  )
}

/** Deployments with a lower `order` are tried first. */
function priorityOf({ order }: Record<string, unknown>): number {
  const number = Number(order)
  return Number.isSafeInteger(number) && Math.abs(number) <= 1_000_000 ? 0 - number : 0
}

function sized(name: 'context_length' | 'max_output_tokens', value: unknown): Partial<ModelDraft> {
  const tokens = Number(value)
  return Number.isSafeInteger(tokens) && tokens > 0 ? { [name]: tokens } : {}
}

const priceParts = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
} as const

const carried: ReadonlySet<string> = new Set([
  ...[
    'model',
    'api_base',
    'base_url',
    'api_key',
    'custom_llm_provider',
    'weight',
    'order',
    'max_parallel_requests',
  ],
  ...bedrockParameters,
  ...['api_version', 'max_input_tokens', 'max_output_tokens', ...Object.values(priceParts)],
])
