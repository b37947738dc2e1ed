import { createHash } from 'node:crypto'
import { z } from 'zod'
import { modelsFor } from '../access/permitted.ts'
import { publicGroups } from '../access/public-group-queries.ts'
import type { ModelLists } from '../catalog/listed-models.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { Database } from '../db/database.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { type ClientEndpoint, linkEndpoint } from './endpoint.ts'
import { mapInTurns } from './in-turns.ts'
import { model, modelJson } from './model-json.ts'

const publicCatalog = z
  .object({
    groups: z.array(
      z.object({
        name: z.string(),
        models: z.array(model).describe('The models of the group, with its prices.'),
      }),
    ),
  })
  .meta({ id: 'PublicCatalog' })

interface Made {
  snapshot: Snapshot
  lists: ModelLists
  bytes: Buffer
  etag: string
  /** The names of all public models. */
  names: ReadonlySet<string>
}

type Sources = Pick<Gateway, 'catalog' | 'modelLists'> & { database: Pick<Database, 'reads'> }

/**
 * The models of public groups. Built once per state of the catalog, which changes whenever a group does.
 * Contains no channel names.
 */
export class PublicCatalog {
  readonly #from: Sources
  #making: Promise<Made> | undefined
  #made: Made | undefined

  constructor(from: Sources) {
    this.#from = from
  }

  async current(): Promise<Made> {
    const { snapshot } = this.#from.catalog
    const { lists } = this.#from.modelLists
    if (this.#made?.snapshot === snapshot && this.#made.lists === lists) return this.#made
    // Builds the list only once at a time, because anyone can request it.
    this.#making ??= this.#make(snapshot, lists).finally(() => {
      this.#making = undefined
    })
    return await this.#making
  }

  /** Whether a public model has this id or alias. */
  async has(name: string): Promise<boolean> {
    return (await this.current()).names.has(name)
  }

  async #make(snapshot: Snapshot, lists: ModelLists): Promise<Made> {
    const { reads } = this.#from.database
    const ids = await reads.ask(({ db }) => publicGroups(db), { ...away, owner: 'public' })
    const groups = []
    for (const id of ids) {
      const group = snapshot.groups.get(id)
      if (group === undefined) continue
      const models = modelsFor(snapshot, { groupId: id, allowedModels: undefined }, lists)
      groups.push({
        name: group.name,
        models: await mapInTurns(models, (each) => modelJson(each, each.id, group)),
      })
    }
    const bytes = Buffer.from(JSON.stringify({ groups }))
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
    const names = new Set(
      groups.flatMap(({ models }) => models.flatMap(({ id, aliases }) => [id, ...aliases])),
    )
    this.#made = { snapshot, lists, bytes, etag, names }
    return this.#made
  }
}

/** Open to everyone. */
export function publicCatalogEndpoint(catalog: Pick<PublicCatalog, 'current'>): ClientEndpoint {
  return linkEndpoint({
    method: 'GET',
    path: '/public/v1/catalog',
    summary: 'List the models and prices of the public groups',
    description: 'Open to everyone, without a key. The list is empty if no group is public.',
    params: z.object({}),
    query: z.object({}),
    answer: publicCatalog,
    async handle({ request, response }) {
      response.setHeader('access-control-allow-origin', '*')
      const { bytes, etag } = await catalog.current()
      const headers = { etag, 'cache-control': 'public, max-age=60' }
      const known = request.headers['if-none-match']
      if (known?.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)) {
        response.writeHead(304, headers).end()
        return undefined
      }
      return { body: bytes, headers }
    },
  })
}

const away = {
  unavailable: 'The catalog cannot be read at the moment. Try again shortly.',
  retryAfterSeconds: 5,
}
