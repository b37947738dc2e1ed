import { createHash } from 'node:crypto'
import { z } from 'zod'
import { modelsFor } from '../access/permitted.ts'
import { publicGroups } from '../access/public-group-queries.ts'
import { GatewayError } from '../canonical/error.ts'
import type { ModelLists } from '../catalog/listed-models.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { Database } from '../db/database.ts'
import type { Gateway } from '../stages/gateway.ts'
import { inTurns } from './in-turns.ts'
import { model, modelJson } from './model-json.ts'
import { linkEndpoint, type OwnEndpoint } from './own-endpoint.ts'

const publicCatalog = z
  .object({
    groups: z.array(
      z.object({
        name: z.string(),
        models: z.array(model).describe("At the group's price."),
      }),
    ),
  })
  .meta({ id: 'PublicCatalog' })

interface Made {
  snapshot: Snapshot
  lists: ModelLists
  /** Undefined: no group is public. */
  answer: { bytes: Buffer; etag: string } | undefined
}

/**
 * The models of public groups, for everybody. It is made once for each state of the catalog, which changes when a group does. It
 * names no channel.
 */
export function publicCatalogEndpoint({
  database,
  catalog,
  modelLists,
}: Pick<Gateway, 'catalog' | 'modelLists'> & { database: Pick<Database, 'reads'> }): OwnEndpoint {
  let making: Promise<Made> | undefined
  let made: Made | undefined
  const current = async (): Promise<Made> => {
    const { snapshot } = catalog
    const { lists } = modelLists
    if (made?.snapshot === snapshot && made.lists === lists) return made
    // One at a time: everybody may ask.
    making ??= make(snapshot, lists).finally(() => {
      making = undefined
    })
    return await making
  }
  const make = async (snapshot: Snapshot, lists: ModelLists): Promise<Made> => {
    const ids = await database.reads.ask(({ db }) => publicGroups(db), { ...away, owner: 'public' })
    const groups = []
    for (const id of ids) {
      const group = snapshot.groups.get(id)
      if (group === undefined) continue
      const models = modelsFor(snapshot, { groupId: id, allowedModels: undefined }, lists)
      groups.push({
        name: group.name,
        models: await inTurns(models, (each) => modelJson(each, each.id, group)),
      })
    }
    const bytes = Buffer.from(JSON.stringify({ groups }))
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
    made = { snapshot, lists, answer: groups.length === 0 ? undefined : { bytes, etag } }
    return made
  }
  return linkEndpoint({
    method: 'GET',
    path: '/public/v1/catalog',
    summary: 'The models and prices of the groups that are public',
    description: 'For everybody, without a key. 404 while no group is public.',
    params: z.object({}),
    query: z.object({}),
    answer: publicCatalog,
    async handle({ stage: { request, response } }) {
      response.setHeader('access-control-allow-origin', '*')
      const { answer } = await current()
      if (answer === undefined) throw new GatewayError('unknown_path', 'This gateway has no public catalog.')
      const headers = { etag: answer.etag, 'cache-control': 'public, max-age=60' }
      const known = request.headers['if-none-match']
      if (known?.split(',').some((each) => each.trim().replace(/^W\//, '') === answer.etag)) {
        response.writeHead(304, headers).end()
        return undefined
      }
      return { body: answer.bytes, headers }
    },
  })
}

const away = {
  unavailable: 'The catalog cannot be read just now. Try again.',
  retryAfterSeconds: 5,
}
