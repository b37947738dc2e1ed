import { z } from 'zod'
import { textOf } from '../canonical/json.ts'
import type { Traits } from '../canonical/traits.ts'
import { findModel } from '../catalog/catalog.ts'
import type { Group, Snapshot } from '../catalog/snapshot.ts'
import { OfferTraits } from '../catalog/traits/offer-traits.ts'
import { type VendorName, vendorNames } from '../catalog/traits/vendors.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { protocols } from '../protocols/index.ts'
import { modelName } from '../protocols/model-name.ts'
import type { Protocol, ProtocolName } from '../protocols/protocol.ts'
import { refuseFiles } from '../state/files/refuse-files.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { modelMember } from './model-member.ts'
import { showTranslation } from './show-translation.ts'
import { translationNote } from './translation-note.ts'

const spoken: readonly Protocol[] = Object.values(protocols)
export const clients = spoken.flatMap(({ name, client }) => (client === undefined ? [] : [name]))
export const upstreams = spoken.flatMap(({ name, upstream }) => (upstream === undefined ? [] : [name]))

const translationRequest = z
  .object({
    from: z.enum(clients).describe('The format of `request`.'),
    to: z.enum(upstreams).describe('The format to translate to.'),
    model: modelMember
      .nullish()
      .describe("The upstream's name for the model. Default: the model of `request`."),
    vendor: z
      .enum(vendorNames)
      .nullish()
      .describe(
        'The vendor of the model. Default: the vendor of the channel that serves `request.model` in the format `to`.',
      ),
    strict: z.boolean().nullish().describe('Whether to refuse the request if a field would be dropped.'),
    request: z.looseObject({}).describe('The body of a request in the format `from`.'),
  })
  .meta({ id: 'TranslationRequest' })

export const translation = z
  .object({
    path: z.string().describe("The upstream's path, below its base URL."),
    body: z.looseObject({}).describe('The body that would be sent.'),
    traits: z
      .record(z.string(), z.unknown())
      .describe('What is known about the model, in the format of gateway.yaml.'),
    notes: z
      .array(translationNote)
      .describe('What happened to each field that could not be passed on unchanged.'),
  })
  .meta({ id: 'Translation' })

/**
 * Shows the request that we would send upstream. Calls no upstream, and only counts against the limits of the
 * key.
 */
export function translateEndpoint(gateway: Gateway): ClientEndpoint {
  return keyEndpoint({
    method: 'POST',
    path: '/v1/translate',
    summary: 'Translate a request to another format, without sending it',
    logged: true,
    limited: true,
    body: translationRequest,
    answer: translation,
    async handle({ stage, body: { from, to, request, ...wanted } }) {
      refuseFiles(request, from, 'in a translation that is only shown')
      // The decoder reports a missing model. A request that stays in its format needs none.
      const model = request.model == null ? '' : modelName(request.model, 'request.model')
      const upstreamModel = textOf(wanted.model) ?? model
      const stream = request.stream === true
      const traits = traitsFor(stage, { to, model, upstreamModel, vendor: wanted.vendor ?? undefined })
      const strict =
        wanted.strict === true ||
        stage.identity.strict ||
        stage.exchange.headers['x-tollgate-strict'] === 'true'
      const asked = { from, to, request, model, upstreamModel, stream, traits, strict }
      return { body: showTranslation(gateway, { ...stage, known: stage.snapshot.models.get(model) }, asked) }
    },
  })
}

/**
 * Returns the traits of the channel that serves the model in this format, otherwise those of the built-in
 * table.
 */
function traitsFor(
  { snapshot, group }: { snapshot: Snapshot; group: Group },
  {
    to,
    model,
    upstreamModel,
    vendor,
  }: { to: ProtocolName; model: string; upstreamModel: string; vendor: VendorName | undefined },
): Traits {
  const offer = findModel(snapshot, model)?.offers.find(
    ({ channel, upstreamModel: served }) =>
      channel.protocols[to] !== undefined &&
      (served === '*' || served === upstreamModel) &&
      (group.channels.includes('*') || group.channels.includes(channel.name)),
  )
  if (offer !== undefined && vendor === undefined) return offer.traits.of(to, upstreamModel)
  return new OfferTraits({ vendor, stated: [], verdicts: [] }).of(to, upstreamModel)
}
