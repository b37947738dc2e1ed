import { allAddedMembers, takingBack } from './added-members.ts'
import type { ByteRange } from './json-scan.ts'
import type { RequestFacts, RequestPatch } from './protocol.ts'
import { type Edit, pieces, splice } from './splice.ts'

/**
 * The byte ranges used by `patchRequest`. A class, so that `instanceof` detects facts without such ranges.
 */
export class BodySpans {
  /**
   * Restores ranges from another thread, which arrive without their class and with a different type of
   * buffer.
   */
  static from({ model, usage, unsent }: BodySpans): BodySpans {
    if (usage === undefined) return new BodySpans(model, undefined, unsent)
    const { wanted, ask } = usage
    return new BodySpans(model, { wanted, ask: { ...ask, bytes: Buffer.from(ask.bytes) } }, unsent)
  }

  readonly model: ByteRange | undefined
  readonly usage: UsageSpans | undefined
  readonly unsent: readonly ByteRange[]

  /**
   * `usage`: for formats whose streams report usage only on request. `unsent`: ranges that are not sent to
   * the upstream.
   */
  constructor(model: ByteRange | undefined, usage?: UsageSpans, unsent: readonly ByteRange[] = []) {
    this.model = model
    this.usage = usage
    this.unsent = unsent
  }
}

export interface UsageSpans {
  wanted: boolean
  /** The edit that requests usage. */
  ask: Edit
}

/**
 * Returns the client's bytes with the upstream's model name, without parts that upstreams refuse and, for a
 * stream whose client does not request usage, with a request for it. All other bytes are unchanged. Returns
 * the same buffer if nothing changes.
 */
export function patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer {
  const edits = editsOf(raw, facts, patch)
  return edits.length === 0 ? raw : splice(raw, edits, patch.allocate ?? Buffer.allocUnsafe)
}

/** Returns the same bytes as pieces, without copying. */
export function patchedPieces(
  raw: Buffer,
  facts: RequestFacts,
  patch: Omit<RequestPatch, 'allocate'>,
): Buffer[] {
  return pieces(raw, editsOf(raw, facts, patch))
}

/** The members that we add to the bytes, by path. */
export function addedMembers(
  facts: RequestFacts,
  patch: Omit<RequestPatch, 'allocate'>,
): Readonly<Record<string, true | null>> {
  const { spans } = facts
  const usage = spans instanceof BodySpans && asksUsage(facts, patch) && spans.usage !== undefined
  return {
    ...(usage ? { stream_options: null, 'stream_options.include_usage': true } : {}),
    ...Object.fromEntries(backgroundAdded(patch).map(({ member }) => [member, true] as const)),
  }
}

/** The members that we add for a background answer and that are not removed again. */
function backgroundAdded({ added, takes }: Omit<RequestPatch, 'allocate'>) {
  return allAddedMembers.filter(
    ({ in: where, member, takes: parameter }) =>
      where === 'background' &&
      added !== undefined &&
      (member !== 'include' || added.include) &&
      takes?.[parameter] !== false,
  )
}

function takenBack({ added, takes }: Omit<RequestPatch, 'allocate'>): ReadonlySet<string> {
  return new Set(
    allAddedMembers
      .filter(({ in: where, takes: parameter }) => where === 'background' && takes?.[parameter] === false)
      .filter(({ member }) => member !== 'include' || added?.include === true)
      .map(({ member }) => member),
  )
}

function asksUsage(
  { stream, wantsUsageFrame }: RequestFacts,
  patch: Omit<RequestPatch, 'allocate'>,
): boolean {
  return stream && !wantsUsageFrame && patch.takes?.streamOptions !== false
}

function editsOf(raw: Buffer, facts: RequestFacts, patch: Omit<RequestPatch, 'allocate'>): Edit[] {
  if (!(facts.spans instanceof BodySpans))
    throw new Error('patchRequest received facts without the ranges to patch.')
  const { model, usage, unsent } = facts.spans
  const edits: Edit[] = []
  if (model && patch.model !== facts.model)
    edits.push({ ...model, bytes: Buffer.from(JSON.stringify(patch.model)) })
  if (usage && asksUsage(facts, patch)) edits.push(usage.ask)
  if (patch.added !== undefined && model) edits.push(...takingBack(raw, model.end, takenBack(patch)))
  // Added after the insertion, which can be at the same offset.
  for (const span of unsent) edits.push({ ...span, bytes: nothing })
  return edits
}

const nothing = Buffer.alloc(0)
