import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { integer } from '../../canonical/checked.ts'
import { GatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import { fileKinds } from '../../catalog/file-changes.ts'
import type { GatewayFile } from '../../catalog/gateway-file.ts'
import { boundPrivate } from '../../catalog/private-bounds.ts'
import { lockRows, type Transaction } from '../../catalog/queries.ts'
import type { Imported } from '../../imports/imported.ts'
import { mergedTables, readTables } from '../../imports/new-api-tables.ts'
import { changesNothing, type Plan, planCounts } from '../../imports/plan.ts'
import { UnsetVariables } from '../../imports/problems.ts'
import { readLiteLlm, readNewApi } from '../../imports/read-export.ts'
import { applyImport, importEntry } from '../../imports/write.ts'
import { redactText } from '../../redaction/redact.ts'
import type { AdminChannelsContext } from './channels.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { permit } from './permit.ts'
import { conflict } from './refusals.ts'

const formats = ['litellm', 'new-api'] as const

const fields = {
  format: z.enum(formats).describe('The gateway that the file comes from.'),
  file: z
    .strictObject({
      name: z.string().min(1).max(255).default('pasted'),
      text: z.string(),
    })
    .describe(
      "LiteLLM's config.yaml, or a JSON export or SQL dump of new-api. The request has at most 1 MiB.",
    ),
  keys: z
    .string()
    .nullable()
    .default(null)
    .describe("LiteLLM's keys: the JSON of /key/list?return_full_object=true."),
  variables: z
    .record(z.string().max(256), z.string().max(4096))
    .default({})
    .describe('Values for `os.environ/NAME` in the file. The environment of the gateway is not read.'),
  keep_existing: z.boolean().default(false).describe('Leaves existing rows as they are.'),
  library_prices: z.boolean().default(false).describe("Uses the library's price for models that have none."),
  max_output_tokens: integer(1, 999_999_999).optional().describe('For models for which the file has none.'),
  context_length: integer(1, 999_999_999).optional().describe('For models for which the file has none.'),
}

const planRequest = z.strictObject(fields).meta({ id: 'ImportPlanRequest' })
const writeRequest = z
  .strictObject({ ...fields, plan: z.string().max(64).describe('The `plan` of the answer that was shown.') })
  .meta({ id: 'ImportRequest' })

const rowsShape = {
  counts: z.object({ create: z.int(), change: z.int(), skip: z.int(), conflict: z.int() }),
  rows: z.array(
    z.object({
      kind: z.enum(fileKinds),
      name: z.string(),
      action: z.enum(['create', 'change', 'skip', 'conflict']),
      reason: z.string().describe('The changed members, or why the row cannot be written.'),
    }),
  ),
  problems: z
    .array(z.object({ level: z.enum(['lost', 'changed', 'note']), where: z.string(), what: z.string() }))
    .describe('What is not carried over unchanged.'),
}

const planAnswer = z
  .object({
    ...rowsShape,
    plan: z
      .string()
      .nullable()
      .describe(
        'Identifies this plan. Null if it cannot be written: there are conflicts, or nothing changes.',
      ),
    new_secrets: z.int().describe('The number of keys that get a new secret.'),
    missing_variables: z
      .array(z.string())
      .describe('Variables of the file that need a value. There are no rows until they have one.'),
  })
  .meta({ id: 'ImportPlan' })

const writeAnswer = z
  .object({
    ...rowsShape,
    generated_keys: z
      .array(z.object({ tenant: z.string(), key: z.string(), secret: z.string() }))
      .describe('The keys with a new secret, which only this response contains.'),
  })
  .meta({ id: 'ImportResult' })

type Asked = z.output<typeof planRequest>
export type AdminImportsContext = Pick<AdminChannelsContext, 'database' | 'keeper' | 'config'>

const area = 'catalog' as const
const withinMs = 30_000
/** A plan locks rows too, and is less urgent than what waits for them. */
const planMs = 10_000

/** Imports from other gateways: a plan, and its writing. `tollgate import` does the same with files. */
export function importsEndpoints(context: AdminImportsContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'POST',
      path: '/admin/v1/imports/plan',
      area,
      summary: 'Plan an import from another gateway',
      description: 'Shows what the import would write, and writes nothing. Secrets are never in the answer.',
      body: planRequest,
      answer: planAnswer,
      async handle({ actor, body }) {
        requireRights(actor)
        const imported = readExport(body, context)
        if (imported instanceof UnsetVariables)
          return { body: { ...shownPlan({ lines: [], problems: [] }), ...unset(imported) } }
        const plan = await planned(context, imported, body)
        const isWritable = planCounts(plan.lines).conflict === 0 && !changesNothing(plan)
        return {
          body: {
            ...shownPlan(plan),
            plan: isWritable ? idOf(plan, body) : null,
            new_secrets: plan.generated.length,
            missing_variables: [],
          },
        }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/imports',
      area,
      withinMs,
      summary: 'Write an import from another gateway',
      description:
        'Writes exactly the plan that was shown, in one transaction. If it has changed since, nothing is written (409).',
      body: writeRequest,
      answer: writeAnswer,
      statuses: [201],
      async change({ actor, tx, body: { plan: shown, ...body }, audit }) {
        requireRights(actor)
        const imported = readExport(body, context)
        if (imported instanceof UnsetVariables) throw invalid('variables', imported.message)
        const terms = termsOf(context, body)
        await lockRows(tx)
        const plan = await applyImport(tx, imported, terms)
        if (planCounts(plan.lines).conflict > 0 || changesNothing(plan) || idOf(plan, body) !== shown)
          throw conflict('The plan has changed since it was shown. Nothing was written. Look at it again.')
        await audit(importEntry(plan, terms))
        return { status: 201, body: { ...shownPlan(plan), generated_keys: plan.generated } }
      },
    }),
  ]
}

/** An import writes everything that these areas have. */
function requireRights(actor: Actor): void {
  for (const other of ['keys', 'tenants', 'money'] as const)
    permit(actor, { area: other, verb: 'write', tenants: 'all' })
}

/** Throws `invalid_request` if the file cannot be imported. */
function readExport(body: Asked, { config }: AdminImportsContext): Imported | UnsetVariables {
  const { max_output_tokens, context_length } = body
  const terms = {
    env: body.variables,
    forYaml: false,
    libraryPrices: body.library_prices,
    sizes: {
      ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
      ...(context_length === undefined ? {} : { context_length }),
    },
  }
  try {
    const keys = body.keys === null ? undefined : { name: 'keys', text: body.keys }
    const imported =
      body.format === 'litellm'
        ? readLiteLlm({ config: body.file, keys }, terms)
        : readNewApi(mergedTables([readTables(body.file)]), terms)
    return withinBounds(imported, config.privateAddresses)
  } catch (error) {
    if (error instanceof UnsetVariables) return error
    // A mistake of ours. Everything else is caused by the file.
    if (error instanceof TypeError || error instanceof ReferenceError) throw error
    throw invalid('file.text', redactText(error instanceof Error ? error.message : String(error)))
  }
}

/** Takes private addresses that the API may not set from channels, and reports it. */
function withinBounds(imported: Imported, most: readonly string[] | undefined): Imported {
  const problems = [...imported.problems]
  const channels: GatewayFile['channels'] = imported.file.channels.map((channel) => {
    try {
      return boundPrivate(channel, most)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      const what = `it may not call its private address: ${error.message}`
      problems.push({ level: 'lost', where: `channel "${channel.name}"`, what })
      return { ...channel, allowPrivateAddress: false }
    }
  })
  return { ...imported, file: { ...imported.file, channels }, problems }
}

function termsOf({ keeper }: AdminImportsContext, { format, file, keep_existing }: Asked) {
  return {
    keeper,
    from: { format, file: file.name },
    keepsExisting: keep_existing,
    takesOver: false,
    isAddressBounded: true,
  }
}

/** The real change, in a transaction that is rolled back. */
async function planned(context: AdminImportsContext, imported: Imported, body: Asked): Promise<Plan> {
  let plan: Plan | undefined
  const work = async (tx: Transaction) => {
    await lockRows(tx)
    plan = await applyImport(tx, imported, { ...termsOf(context, body), isPlan: true })
    throw new PlannedOnly()
  }
  await context.database.admin.transact(work, { withinMs: planMs }).catch((error: unknown) => {
    if (!(error instanceof PlannedOnly)) throw error
  })
  if (plan === undefined) throw new Error('the transaction ended without a plan')
  return plan
}

class PlannedOnly extends Error {}

/** The hash of what was asked, of what would be written, and of what that would replace. */
function idOf({ lines, problems, replaced }: Plan, body: Asked): string {
  const variables = Object.entries(body.variables).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([{ ...body, variables }, lines, problems, replaced], bigintsAsText))
    .digest('hex')
}

const bigintsAsText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

function shownPlan({ lines, problems }: Pick<Plan, 'lines' | 'problems'>) {
  return { counts: planCounts(lines), rows: lines, problems }
}

function unset({ names }: UnsetVariables) {
  return { plan: null, new_secrets: 0, missing_variables: [...names] }
}
