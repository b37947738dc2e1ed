import { readExportRows } from '../../access/export-queries.ts'
import { exportYaml } from '../../access/export-yaml.ts'
import type { Database } from '../../db/database.ts'
import type { SecretKeeper } from '../../secret-key.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'

export interface AdminExportContext {
  database: Pick<Database, 'reads'>
  keeper: SecretKeeper
}

/** The state of the gateway as a file. */
export function exportEndpoint({ database, keeper }: AdminExportContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/export',
    area: 'settings',
    summary: 'The state of the gateway as a gateway.yaml, without secrets',
    description: 'Secrets are names of variables, which the head of the file lists.',
    media: 'text/yaml',
    async handle({ response }) {
      const rows = await database.reads.ask(({ db }) => readExportRows(db), { withinMs: 30_000 })
      response
        .set('content-type', 'text/yaml; charset=utf-8')
        .set('content-disposition', 'attachment; filename="gateway.yaml"')
        .end(exportYaml(rows, keeper, new Date()))
      return undefined
    },
  })
}
