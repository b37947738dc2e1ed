import type { Span } from './json-scan.ts'
import type { RequestFacts, RequestPatch } from './protocol.ts'
import { type Edit, splice } from './splice.ts'

/** Places for `patchRequest`. It is a class so that `instanceof` detects facts without such places. */
export class BodySpans {
  readonly model: Span | undefined
  readonly usage: UsageSpans | undefined

  /** `usage`: for formats whose streams have usage only if the request asks for it. */
  constructor(model: Span | undefined, usage?: UsageSpans) {
    this.model = model
    this.usage = usage
  }
}

export interface UsageSpans {
  wanted: boolean
  /** The edit that asks for usage. */
  ask: Edit
}

/**
 * The client's bytes with the upstream's model name, and for a stream with a wish for usage if the client has none. All
 * other bytes are the client's own. Returns the same buffer if nothing changes.
 */
export function patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer {
  if (!(facts.spans instanceof BodySpans))
    throw new Error('patchRequest got facts without the places to patch')
  const { model, usage } = facts.spans
  const edits: Edit[] = []
  if (model && patch.model !== facts.model)
    edits.push({ ...model, bytes: Buffer.from(JSON.stringify(patch.model)) })
  if (facts.stream && !facts.wantsUsageFrame && usage) edits.push(usage.ask)
  return edits.length === 0 ? raw : splice(raw, edits, patch.allocate ?? Buffer.allocUnsafe)
}
