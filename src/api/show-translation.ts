import type { Json } from '../canonical/json.ts'
import type { Traits } from '../canonical/traits.ts'
import type { Model } from '../catalog/snapshot.ts'
import { traitsInWords } from '../catalog/trait-entry.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { outputTokensDefault, translate } from '../pipeline/translation/translate.ts'
import { withoutEmptyTools } from '../protocols/empty-tools.ts'
import { clientSide, upstreamSide } from '../protocols/index.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

interface Asked {
  from: ProtocolName
  to: ProtocolName
  /** The body of a request in the format `from`. */
  request: Json
  /** The name that the client uses. */
  model: string
  upstreamModel: string
  stream: boolean
  traits: Traits
  /** Refuses what would otherwise be dropped. */
  strict: boolean
}

/**
 * Shows what we would send upstream for a request, and what happens to every field. Throws GatewayError for a
 * request that cannot be translated.
 */
export function showTranslation(
  gateway: Pick<Gateway, 'envelope' | 'bounds'>,
  { id, startedAt, known }: { id: string; startedAt: number; known: Model | undefined },
  { from, to, request, model, upstreamModel, stream, traits, strict }: Asked,
) {
  const shown = { traits: traitsInWords(traits) }
  const path = upstreamSide(to).path({ model: upstreamModel, stream })
  if (from === to) {
    const { body, notes } = from === 'openai-chat' ? withoutEmptyTools(request) : { body: request, notes: [] }
    return { path, body: { ...body, model: upstreamModel }, ...shown, notes }
  }
  const { body, notes } = translate(
    {
      client: clientSide(from),
      body: request,
      requestId: id,
      model,
      stream,
      createdAtSeconds: Math.floor(startedAt / 1000),
      inputTokensEstimate: 0,
      envelope: gateway.envelope,
      strict,
      maxOutputTokensDefault: outputTokensDefault(known, traits, gateway.bounds.outputTokensDefault),
      frameBytesMax: gateway.bounds.sseFrameBytesMax,
      answerSizeMax: gateway.bounds.watchedAnswerBytesMax,
      redactError: (error) => error,
    },
    { protocol: to, upstreamModel, traits },
  )
  return { path, body, ...shown, notes }
}
