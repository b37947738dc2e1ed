import { z } from 'zod'
import { alertKinds } from '../../alerts/condition.ts'
import { acknowledge, episodeMessages, findEpisode, listEpisodes } from '../../alerts/episode-queries.ts'
import type { Database } from '../../db/database.ts'
import { moment, oneOfWords } from '../parameter.ts'
import { alertEpisode, episodeJson } from './alert-json.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, orderOf, pageOf, pageSchema, placeAt, uuidText } from './list.ts'
import { listedTenant, requireOwn } from './permit.ts'
import { notFound } from './refusals.ts'

const params = z.object({ id: uuidText })
const flag = oneOfWords(['true', 'false'])
const noEpisode = 'such episode'

/** The periods in which the condition of a rule held. */
export function alertEpisodesEndpoints({ database }: { database: Pick<Database, 'reads'> }): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/alerts/episodes',
      area: 'alerts',
      tenants: 'own',
      summary: 'List alert episodes, open and closed, with the state of their webhooks',
      query: z.strictObject({
        ...listParameters(['-opened_at']),
        id: uuidText.optional().describe('Only the episode with this id.'),
        rule_id: uuidText.optional(),
        kind: oneOfWords(alertKinds).optional(),
        tenant_id: uuidText.optional().describe('Only episodes of rules of this tenant.'),
        open: flag.optional(),
        acknowledged: flag.optional(),
        from: moment('first moment').optional().describe('Only episodes opened from this time on.'),
        to: moment('end').optional(),
      }),
      answer: pageSchema(alertEpisode).meta({ id: 'AlertEpisodeList' }),
      async handle({ actor, query, signal }) {
        const { id, limit, cursor, sort, rule_id: ruleId, kind, from, to, open, acknowledged } = query
        const terms = { owner: 'admin', signal }
        const rows = await database.reads.ask(
          ({ db }) =>
            listEpisodes(db, {
              tenantId: listedTenant(actor, query.tenant_id),
              id,
              ruleId,
              kind,
              open: isTrue(open),
              acknowledged: isTrue(acknowledged),
              from,
              to,
              after: placeAt(sort, cursor)?.id,
              descending: orderOf(sort).descending,
              limit: limit + 1,
            }),
          terms,
        )
        const page = pageOf(rows, { limit, sort }, ({ id }) => ({ value: null, id }))
        const ids = page.data.map(({ id }) => id)
        const messages = await database.reads.ask(({ db }) => episodeMessages(db, ids), terms)
        return { body: { ...page, data: page.data.map((row) => episodeJson(row, messages)) } }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/alerts/episodes/{id}/acknowledge',
      area: 'alerts',
      tenants: 'own',
      summary: 'Acknowledge an episode',
      description:
        'Only the first acknowledgement is recorded. It does not affect the episode, which still closes on its own.',
      params,
      answer: alertEpisode,
      async change({ actor, tx, params: { id }, audit }) {
        const row = await findEpisode(tx, id)
        if (row === undefined) throw notFound(noEpisode)
        requireOwn(actor, row.tenantId, noEpisode)
        const isFirst = row.acknowledgedAt === null
        const at = row.acknowledgedAt ?? (await acknowledge(tx, id, actor.name))
        const by = row.acknowledgedBy ?? actor.name
        await audit({
          action: 'alert.acknowledge',
          resource: 'alert_episode',
          id,
          name: row.name,
          tenantId: row.tenantId,
          before: { acknowledged_by: isFirst ? null : by },
          after: { acknowledged_by: by },
        })
        const acknowledged = { ...row, acknowledgedAt: at, acknowledgedBy: by }
        return { body: episodeJson(acknowledged, await episodeMessages(tx, [id])) }
      },
    }),
  ]
}

function isTrue(flag: 'true' | 'false' | undefined): boolean | undefined {
  return flag === undefined ? undefined : flag === 'true'
}
