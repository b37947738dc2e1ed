import { z } from 'zod'
import { type Modality, modalities, type Traits } from '../canonical/traits.ts'
import type { ListedModel } from '../catalog/listed-models.ts'
import type { Group, Model, Offer } from '../catalog/snapshot.ts'
import type { OfferTraits, TraitVerdict } from '../catalog/traits/offer-traits.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { translatable } from '../routing/candidates.ts'

const yesOrNo = z.boolean().nullable()
const words = z.array(z.string()).nullable()

/** The members of `capabilities` that are derived from traits. */
export const traitMembers = {
  input: words.describe(
    'The kinds of input parts that the model accepts: text, image, document, audio, video.',
  ),
  output: words.describe('The kinds of output parts that the model produces.'),
  tools: yesOrNo,
  parallel_tools: yesOrNo,
  strict_tools: yesOrNo,
  structured_output: yesOrNo.describe('Whether the model can answer according to a JSON Schema.'),
  json_mode: yesOrNo.describe('Whether the model can be made to answer with a JSON object.'),
  reasoning: yesOrNo,
  reasoning_efforts: words.describe('The reasoning efforts that the model accepts, lowest first.'),
  web_search: yesOrNo,
  caching: yesOrNo.describe('Whether prompts are cached.'),
  prefill: yesOrNo.describe('Whether the model can continue an assistant turn.'),
}

const traitCapabilities = z.object(traitMembers)

/**
 * Returns what a model can do on the channels of a group. A capability is true if any offer has it, and null
 * if it is unknown.
 */
export function capabilitiesOf(traits: readonly Traits[]): z.output<typeof traitCapabilities> {
  const any = (can: (one: Traits) => boolean | undefined) => anyOf(traits.map(can))
  return {
    input: kindsIn(traits.flatMap(({ input }) => input ?? [])),
    output: kindsIn(traits.flatMap(({ output }) => output ?? [])),
    tools: any(({ tools }) => tools),
    parallel_tools: any(({ parallelTools }) => parallelTools),
    strict_tools: any(({ strictTools }) => strictTools),
    structured_output: any(({ schema }) => (schema === undefined ? undefined : schema !== 'none')),
    json_mode: any(({ jsonMode }) => jsonMode),
    reasoning: any(({ thinking }) => (thinking === undefined ? undefined : thinking !== 'none')),
    reasoning_efforts: longest(traits.map(({ effortLevels }) => effortLevels)),
    web_search: any(({ webSearch }) => webSearch),
    caching: any(({ caching }) => (caching === undefined ? undefined : caching !== 'none')),
    prefill: any(({ prefill }) => prefill),
  }
}

/**
 * Returns when each member of `shown` was last proved by a probe or by an upstream's refusals, in ISO 8601.
 * Members that no current verdict confirms are absent.
 */
export function provedAt(
  shown: z.output<typeof traitCapabilities>,
  verdicts: readonly TraitVerdict[],
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { traits, decidedAt } of verdicts) {
    const at = decidedAt.toISOString()
    const proved = new Map(Object.entries(capabilitiesOf([traits])))
    for (const [name, value] of Object.entries(shown)) {
      if (value === null || JSON.stringify(proved.get(name)) !== JSON.stringify(value)) continue
      if (found[name] === undefined || found[name] < at) found[name] = at
    }
  }
  return found
}

/** Returns the traits of the offers that a group can use, in each chat protocol of their channels. */
export function traitsFor(model: Model, id: string, group: Group): Traits[] {
  return inEachProtocol(model, id, group, (traits, protocol, name) => [traits.of(protocol, name)])
}

/** Returns the current verdicts about those offers. */
export function verdictsFor(model: Model, id: string, group: Group): TraitVerdict[] {
  return inEachProtocol(model, id, group, (traits, protocol, name) => traits.verdictsOn(protocol, name))
}

function inEachProtocol<T>(
  model: Model,
  id: string,
  group: Group,
  ask: (traits: OfferTraits, protocol: ProtocolName, upstreamModel: string) => readonly T[],
): T[] {
  const usable = ({ channel }: Offer) => group.channels.includes('*') || group.channels.includes(channel.name)
  return model.offers
    .filter(usable)
    .flatMap(({ channel, upstreamModel, traits }) =>
      translatable
        .filter((protocol) => channel.protocols[protocol] !== undefined)
        .flatMap((protocol) => ask(traits, protocol, upstreamModel === '*' ? id : upstreamModel)),
    )
}

/**
 * In tokens: as stated in gateway.yaml, otherwise the largest value in any offer's traits, otherwise as in
 * the upstream's list.
 */
export function sizesOf(
  model: Model & { listed?: ListedModel },
  traits: readonly Traits[],
): { contextLength: number | null; maxOutputTokens: number | null } {
  const { listed } = model
  return {
    contextLength:
      model.contextLength ?? most(traits.map((one) => one.contextLength)) ?? listed?.contextLength ?? null,
    maxOutputTokens:
      model.maxOutputTokens ??
      most(traits.map((one) => one.maxOutputTokens)) ??
      listed?.maxOutputTokens ??
      null,
  }
}

function anyOf(all: readonly (boolean | undefined)[]): boolean | null {
  if (all.includes(true)) return true
  return all.length === 0 || all.includes(undefined) ? null : false
}

function kindsIn(kinds: readonly Modality[]): Modality[] | null {
  return kinds.length === 0 ? null : modalities.filter((kind) => kinds.includes(kind))
}

function longest(lists: readonly (readonly string[] | undefined)[]): string[] | null {
  const known = lists.filter((list) => list !== undefined)
  const [best] = known.toSorted((a, b) => b.length - a.length)
  return best === undefined ? null : [...best]
}

function most(sizes: readonly (number | undefined)[]): number | undefined {
  const known = sizes.filter((size) => size !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
