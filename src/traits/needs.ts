import { canForceTools, type Modality, type Traits } from '../canonical/traits.ts'

/** A part of a request without which the answer would not be what the client asked for. */
export interface Need {
  name: NeedName
  /** In the client's body. */
  path: string
}

export type NeedName = keyof typeof kinds

interface Kind {
  /** The words for a message: `takes no images`, `takes images`. */
  verb: 'takes' | 'gives'
  noun: string
  /** Whether an offer can do it; undefined: not known. */
  can(traits: Traits): boolean | undefined
  /** A translation has its own way, or refuses: so only offers of the client's own format are left out. */
  onlyNative?: true
}

const reads = (modality: Modality) => (traits: Traits) => traits.input?.includes(modality)
const writes = (modality: Modality) => (traits: Traits) => traits.output?.includes(modality)

const kinds = {
  imageInput: { verb: 'takes', noun: 'images', can: reads('image') },
  documentInput: { verb: 'takes', noun: 'documents', can: reads('document') },
  audioInput: { verb: 'takes', noun: 'audio', can: reads('audio') },
  audioOutput: { verb: 'gives', noun: 'audio', can: writes('audio') },
  imageOutput: { verb: 'gives', noun: 'images', can: writes('image') },
  tools: { verb: 'takes', noun: 'tools', can: (traits: Traits) => traits.tools },
  forcedTools: { verb: 'takes', noun: 'forced tool calls', can: canForceTools },
  schema: {
    verb: 'takes',
    noun: 'JSON Schemas for its answer',
    can: ({ schema }: Traits) => (schema === undefined ? undefined : schema !== 'none'),
    onlyNative: true,
  },
  webSearch: {
    verb: 'takes',
    noun: 'web searches',
    can: ({ webSearch }: Traits) => webSearch,
    onlyNative: true,
  },
  streaming: { verb: 'gives', noun: 'streams', can: ({ streaming }: Traits) => streaming },
} as const satisfies Record<string, Kind>

const kindOf: Readonly<Record<NeedName, Kind>> = kinds

export const needNames = Object.keys(kinds).filter((name): name is NeedName => name in kinds)

/** Whether an offer can do it; undefined: not known. */
export function canDo(name: NeedName, traits: Traits): boolean | undefined {
  return kindOf[name].can(traits)
}

/**
 * The names of all that an offer certainly cannot do. Nothing is looked up in a request for an offer that can
 * do, or may be able to do, everything. `native`: it gets the client's own bytes.
 */
export function cannotDo(traits: Traits, native: boolean): readonly NeedName[] {
  const known = unable.get(traits) ?? {
    native: needNames.filter((name) => canDo(name, traits) === false),
    translated: needNames.filter((name) => canDo(name, traits) === false && kindOf[name].onlyNative !== true),
  }
  unable.set(traits, known)
  return native ? known.native : known.translated
}

/** Equal traits are the same object: see `OfferTraits`. */
const unable = new WeakMap<Traits, { native: readonly NeedName[]; translated: readonly NeedName[] }>()

/** `takes no images`. */
export function lacking(name: NeedName): string {
  const { verb, noun } = kindOf[name]
  return `${verb} no ${noun}`
}

/** `take images`, of several models. */
export function having(name: NeedName): string {
  const { verb, noun } = kindOf[name]
  return `${verb.slice(0, -1)} ${noun}`
}
