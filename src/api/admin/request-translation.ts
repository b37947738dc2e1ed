import { z } from 'zod'
import { parseObject } from '../../canonical/json.ts'
import type { Traits } from '../../canonical/traits.ts'
import { findModel } from '../../catalog/catalog.ts'
import { OfferTraits } from '../../catalog/traits/offer-traits.ts'
import type { Database } from '../../db/database.ts'
import { modelEndpoints } from '../../pipeline/endpoints.ts'
import type { Gateway } from '../../pipeline/gateway.ts'
import type { Ledger } from '../../shipping/ledger.ts'
import { findLogDetail, type LogDetail } from '../../usage/log/detail-queries.ts'
import { showTranslation } from '../show-translation.ts'
import { clients, translation, upstreams } from '../translate.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { askLogAs } from './log-walk.ts'
import { listedTenant } from './permit.ts'
import { conflict } from './refusals.ts'
import { noSuchRequest, requestParams, requireRequestId } from './request-detail.ts'

export interface AdminTranslationContext extends Pick<Gateway, 'envelope' | 'bounds' | 'catalog'> {
  ledger: Pick<Ledger, 'shipNow'>
  database: Database
}

const madeAnew = translation
  .extend({
    made_anew: z
      .literal(true)
      .describe(
        'Always true: the translation is computed now from the stored body and current knowledge of the model, and can differ from what was actually sent.',
      ),
    made_at: z.iso.datetime(),
    catalog_revision: z.int(),
    channel: z.string().nullable().describe('Null for members, and if no channel was called.'),
    to: z.enum(upstreams),
    is_body_whole: z
      .boolean()
      .describe('False if the stored body has placeholders for secrets or for the middle of long texts.'),
  })
  .meta({ id: 'TranslationMadeAnew' })

/** Shows what would be sent upstream today for a request of the log. */
export function adminTranslationEndpoint(context: AdminTranslationContext): AdminEndpoint {
  const { database, bounds, catalog, ledger } = context
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/{id}/translation',
    area: 'log',
    tenants: 'own',
    summary: 'Show what would be sent upstream today for the stored body of a request',
    params: requestParams,
    answer: madeAnew,
    async handle({ actor, params, signal }) {
      const id = requireRequestId(params.id)
      await ledger.shipNow()
      const ask = askLogAs(database, actor)
      const terms = { withinMs: bounds.logQueryMs, signal }
      const found = await ask((sql) => findLogDetail(sql, id, listedTenant(actor)), terms)
      if (found === undefined) throw noSuchRequest()
      const { snapshot } = catalog
      const { row } = found
      const from = clients.find((each) => each === row.client_protocol)
      const to = upstreams.find((each) => each === row.upstream_protocol)
      const isPassed = modelEndpoints.some(({ kind, path }) => kind === 'plain' && path === row.endpoint)
      if (from === undefined || to === undefined || isPassed)
        throw conflict('The request was not sent to a channel as a chat, so there is nothing to translate.')
      const { request, isWhole } = keptBody(found)
      const model = row.requested_model ?? ''
      const called = found.detail.attempt_rows.findLast(({ passed_over }) => !passed_over)
      const upstreamModel = called?.upstream_model ?? model
      const known = findModel(snapshot, model)
      const offer = known?.offers.find(({ channel }) => channel.name === called?.channel)
      const traits: Traits = (
        offer?.traits ?? new OfferTraits({ vendor: undefined, stated: [], verdicts: [] })
      ).of(to, upstreamModel)
      const now = Date.now()
      const asked = { from, to, request, model, upstreamModel, stream: row.stream, traits, strict: false }
      return {
        body: {
          ...showTranslation(context, { id, startedAt: now, known }, asked),
          made_anew: true as const,
          made_at: new Date(now).toISOString(),
          catalog_revision: snapshot.revision,
          channel: actor.tenantId === null ? (called?.channel ?? null) : null,
          to,
          is_body_whole: isWhole,
        },
      }
    },
  })
}

/** Throws `conflict` if there is nothing to translate. */
function keptBody({ detail: { payload } }: LogDetail) {
  if (payload === null)
    throw conflict(
      'The body of this request is not stored, because its key has "capture: none" or the retention period is over.',
    )
  if (payload.capture !== 'content')
    throw conflict(
      'Only the shape of the body is stored, without its texts. Set "capture: content" for the key to store them in future.',
    )
  const request = parseObject(payload.body)
  if (request === undefined)
    throw conflict(
      'The middle of the stored body is missing, because the body was longer than CAPTURE_BYTES_MAX.',
    )
  return { request, isWhole: !/\[REDACTED |\u2026\[\d+ bytes cut\]\u2026/.test(payload.body) }
}
