import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { Database } from '../../db/database.ts'
import type { ClientFiles } from '../../state/files/client-files.ts'
import { type ClientFile, isFileId, purposes } from '../../state/files/file.ts'
import { hideFile, listClientFiles } from '../../state/files/file-queries.ts'
import { oneOfWords } from '../parameter.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, orderOf, pageOf, pageSchema, placeAt, uuidText } from './list.ts'
import { listedTenant, requireOwn } from './permit.ts'
import { notFound } from './refusals.ts'

export interface AdminFilesContext {
  database: Pick<Database, 'reads'>
  files: ClientFiles
}

const adminFile = z
  .object({
    id: z.string(),
    tenant_id: z.uuid(),
    key_id: z.uuid(),
    purpose: z.enum(purposes),
    filename: z.string(),
    media_type: z.string().describe('The media type detected from the contents of the file.'),
    bytes: z.number().int(),
    sha256: z.string(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'AdminFile' })
const fileList = pageSchema(adminFile).meta({ id: 'AdminFileList' })
const path = z.object({ id: z.string() })

/** Files of all tenants, or of a member's own, without their contents. */
export function adminFilesEndpoints({ database, files }: AdminFilesContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/files',
      area: 'jobs',
      tenants: 'own',
      summary: 'List the files that clients have uploaded, newest first',
      query: z.strictObject({
        ...listParameters(['-created_at']),
        tenant_id: uuidText.optional(),
        purpose: oneOfWords(purposes).optional(),
      }),
      answer: fileList,
      async handle({ actor, query, signal }) {
        const { limit, sort, cursor, purpose } = query
        const tenantId = listedTenant(actor, query.tenant_id)
        const rows = await database.reads.ask(
          ({ db }) =>
            listClientFiles(db, tenantId === undefined ? {} : { tenantId }, {
              purpose,
              after: placeAt(sort, cursor)?.id,
              order: orderOf(sort).descending ? 'desc' : 'asc',
              limit: limit + 1,
            }),
          { owner: 'admin', signal },
        )
        const page = pageOf(rows, { limit, sort }, ({ id }) => ({ value: null, id }))
        return { body: { ...page, data: page.data.map((row) => adminFileJson(files.fileOf(row))) } }
      },
    }),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/files/{id}',
      area: 'jobs',
      tenants: 'own',
      summary: 'Delete a file',
      params: path,
      answer: adminFile,
      async change({ actor, tx, params: { id }, audit }) {
        const file = await ownFile(id, actor)
        if (!(await hideFile(tx, file.id))) throw notFound('file with this id')
        const { tenantId, bytes, mime } = file
        await audit({
          action: 'file.delete',
          resource: 'file',
          id: file.id,
          tenantId,
          before: { bytes, media_type: mime },
          after: null,
        })
        return { body: adminFileJson(file) }
      },
    }),
  ]

  async function ownFile(id: string, actor: Actor): Promise<ClientFile> {
    const file = isFileId(id) ? await files.findAny(id) : undefined
    if (file === undefined) throw notFound('file with this id')
    requireOwn(actor, file.tenantId, 'file with this id')
    return file
  }
}

function adminFileJson(file: ClientFile): z.output<typeof adminFile> {
  const { id, tenantId, keyId, purpose, filename, mime, bytes, sha256, createdAt, expiresAt } = file
  return {
    id,
    tenant_id: tenantId,
    key_id: keyId,
    purpose,
    filename,
    media_type: mime,
    bytes,
    sha256: sha256.toString('hex'),
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  }
}
