import { canForceTools, type Modality, type Traits } from '../../canonical/traits.ts'

/**
 * A part of a request that the answer depends on: without it, the answer would not be what the client
 * requested.
 */
export interface Need {
  name: NeedName
  /** The path in the client's body. */
  path: string
}

export type NeedName = keyof typeof kinds

interface Kind {
  /** Words for messages, as in `does not accept images` and `accept images`. */
  verb: 'accept' | 'produce' | 'support'
  noun: string
  /** Whether an offer supports it; undefined if unknown. */
  can(traits: Traits): boolean | undefined
  /**
   * A translation handles this in its own way or refuses it, so only offers in the client's own format are
   * excluded.
   */
  onlyNative?: true
}

const reads = (modality: Modality) => (traits: Traits) => traits.input?.includes(modality)
const writes = (modality: Modality) => (traits: Traits) => traits.output?.includes(modality)

const kinds = {
  imageInput: { verb: 'accept', noun: 'images', can: reads('image') },
  documentInput: { verb: 'accept', noun: 'documents', can: reads('document') },
  audioInput: { verb: 'accept', noun: 'audio', can: reads('audio') },
  audioOutput: { verb: 'produce', noun: 'audio', can: writes('audio') },
  imageOutput: { verb: 'produce', noun: 'images', can: writes('image') },
  tools: { verb: 'support', noun: 'tools', can: (traits: Traits) => traits.tools },
  forcedTools: { verb: 'support', noun: 'forced tool calls', can: canForceTools },
  schema: {
    verb: 'support',
    noun: 'JSON Schemas for answers',
    can: ({ schema }: Traits) => (schema === undefined ? undefined : schema !== 'none'),
    onlyNative: true,
  },
  webSearch: {
    verb: 'support',
    noun: 'web search',
    can: ({ webSearch }: Traits) => webSearch,
    onlyNative: true,
  },
  streaming: { verb: 'support', noun: 'streaming', can: ({ streaming }: Traits) => streaming },
} as const satisfies Record<string, Kind>

const kindOf: Readonly<Record<NeedName, Kind>> = kinds

export const needNames = Object.keys(kinds).filter((name): name is NeedName => name in kinds)

/** Whether an offer supports it; undefined if unknown. */
export function canDo(name: NeedName, traits: Traits): boolean | undefined {
  return kindOf[name].can(traits)
}

/**
 * Everything that an offer is known not to support. If the list is empty, the request does not have to be
 * searched for needs. `native`: the offer receives the client's own bytes.
 */
export function cannotDo(traits: Traits, native: boolean): readonly NeedName[] {
  const known = unable.get(traits) ?? {
    native: needNames.filter((name) => canDo(name, traits) === false),
    translated: needNames.filter((name) => canDo(name, traits) === false && kindOf[name].onlyNative !== true),
  }
  unable.set(traits, known)
  return native ? known.native : known.translated
}

/** Keyed by object, because equal traits are the same object: see `OfferTraits`. */
const unable = new WeakMap<Traits, { native: readonly NeedName[]; translated: readonly NeedName[] }>()

/** Such as `does not accept images`. */
export function lacking(name: NeedName): string {
  const { verb, noun } = kindOf[name]
  return `does not ${verb} ${noun}`
}

/** Such as `accept images`, for several models. */
export function having(name: NeedName): string {
  const { verb, noun } = kindOf[name]
  return `${verb} ${noun}`
}
