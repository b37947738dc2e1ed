import type { Span } from './json-scan.ts'
import type { RequestFacts, RequestPatch } from './protocol.ts'
import { type Edit, pieces, splice } from './splice.ts'

/** Places for `patchRequest`. It is a class so that `instanceof` detects facts without such places. */
export class BodySpans {
  /** The places that another thread found: they came here without their class, and with other kinds of buffers. */
  static from({ model, usage, unsent }: BodySpans): BodySpans {
    if (usage === undefined) return new BodySpans(model, undefined, unsent)
    const { wanted, ask } = usage
    return new BodySpans(model, { wanted, ask: { ...ask, bytes: Buffer.from(ask.bytes) } }, unsent)
  }

  readonly model: Span | undefined
  readonly usage: UsageSpans | undefined
  readonly unsent: readonly Span[]

  /**
   * `usage`: for formats whose streams have usage only if the request asks for it. `unsent`: ranges that the upstream does
   * not get.
   */
  constructor(model: Span | undefined, usage?: UsageSpans, unsent: readonly Span[] = []) {
    this.model = model
    this.usage = usage
    this.unsent = unsent
  }
}

export interface UsageSpans {
  wanted: boolean
  /** The edit that asks for usage. */
  ask: Edit
}

/**
 * The client's bytes with the upstream's model name, without what upstreams refuse, and for a stream with a wish for usage if
 * the client has none. All other bytes are the client's own. Returns the same buffer if nothing changes.
 */
export function patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer {
  const edits = editsOf(facts, patch)
  return edits.length === 0 ? raw : splice(raw, edits, patch.allocate ?? Buffer.allocUnsafe)
}

/** The same bytes in pieces, without a copy. */
export function patchedPieces(
  raw: Buffer,
  facts: RequestFacts,
  patch: Omit<RequestPatch, 'allocate'>,
): Buffer[] {
  return pieces(raw, editsOf(facts, patch))
}

/** The members that the patched bytes have of us, by their paths. */
export function addedMembers(
  facts: RequestFacts,
  patch: Omit<RequestPatch, 'allocate'>,
): Readonly<Record<string, true | null>> {
  return facts.spans instanceof BodySpans && asksUsage(facts, patch) && facts.spans.usage !== undefined
    ? { stream_options: null, 'stream_options.include_usage': true }
    : {}
}

function asksUsage(
  { stream, wantsUsageFrame }: RequestFacts,
  patch: Omit<RequestPatch, 'allocate'>,
): boolean {
  return stream && !wantsUsageFrame && patch.asksUsage !== false
}

function editsOf(facts: RequestFacts, patch: Omit<RequestPatch, 'allocate'>): Edit[] {
  if (!(facts.spans instanceof BodySpans))
    throw new Error('patchRequest got facts without the places to patch')
  const { model, usage, unsent } = facts.spans
  const edits: Edit[] = []
  if (model && patch.model !== facts.model)
    edits.push({ ...model, bytes: Buffer.from(JSON.stringify(patch.model)) })
  if (usage && asksUsage(facts, patch)) edits.push(usage.ask)
  // After the insertion, which may be at the same place.
  for (const span of unsent) edits.push({ ...span, bytes: nothing })
  return edits
}

const nothing = Buffer.alloc(0)
