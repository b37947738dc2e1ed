import type { Json } from '../canonical/json.ts'
import { usd } from '../catalog/usd.ts'
import type { ExportRows } from './export-queries.ts'

// Rows in the vocabulary of gateway.yaml, without settings that have their default values.

interface Limits {
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  concurrency: number | null
}

interface Budget {
  budgetDay: bigint | null
  budgetMonth: bigint | null
  budgetTotal: bigint | null
}

export function groupWords(row: ExportRows['groups'][number]): Json {
  const total = {
    requestsPerMinute: row.totalRequestsPerMinute,
    tokensPerMinute: row.totalTokensPerMinute,
    concurrency: row.totalConcurrency,
  }
  return {
    name: row.name,
    ...(row.description !== null && { description: row.description }),
    ...(row.public && { public: true }),
    models: row.models,
    channels: row.channels,
    ...(row.priceMultiplier !== '1' && { price_multiplier: row.priceMultiplier }),
    ...(row.imagePriority !== 0 && { image_priority: row.imagePriority }),
    ...(row.captureAnswers && { capture_answers: true }),
    ...((row.keptDays > 0 || row.compactModel !== null) && {
      responses: {
        ...(row.keptDays > 0 ? { store: true, days: row.keptDays } : { store: false }),
        ...(row.compactModel !== null && { compact_model: row.compactModel }),
      },
    }),
    client_gone: {
      policy: row.clientGonePolicy,
      seconds: row.clientGoneSeconds,
      ...(row.clientGoneUnseen !== 'estimate' && { unseen: row.clientGoneUnseen }),
    },
    ...limitWords('limits', row),
    ...limitWords('total_limits', total),
    ...budgetWords(row),
  }
}

/** `balance` is undefined if the tenant's money is not limited. A file cannot contain a negative balance. */
export function tenantOut(row: ExportRows['tenants'][number]['tenant'], balance: bigint | undefined): Json {
  return {
    name: row.name,
    ...(balance !== undefined && { balance_usd: usd(balance < 0n ? 0n : balance) }),
    ...(row.disabledAt !== null && { disabled: true }),
    ...limitWords('limits', row),
    ...retentionWords(row),
  }
}

function retentionWords({
  rowsDays,
  bodiesDays,
  answersDays,
}: ExportRows['tenants'][number]['tenant']): Json {
  const retention = {
    ...(rowsDays !== null && { rows_days: rowsDays }),
    ...(bodiesDays !== null && { bodies_days: bodiesDays }),
    ...(answersDays !== null && { answers_days: answersDays }),
  }
  return Object.keys(retention).length === 0 ? {} : { retention }
}

/** Without the secret, because only its hash is stored. */
export function keyWords(row: ExportRows['keys'][number], group: string): Json {
  return {
    name: row.name,
    group,
    ...(row.capture !== 'content' && { capture: row.capture }),
    ...(row.captureAnswers !== null && { capture_answers: row.captureAnswers }),
    ...(row.keptDays !== null && {
      responses: row.keptDays === 0 ? { store: false } : { store: true, days: row.keptDays },
    }),
    ...(row.usageScope !== 'tenant' && { usage_scope: row.usageScope }),
    ...(row.strict && { strict: true }),
    ...(row.subKeysMax !== null && { sub_keys: row.subKeysMax }),
    ...(row.expiresAt !== null && { expires_at: row.expiresAt.toISOString() }),
    ...(row.disabledAt !== null && { disabled: true }),
    ...(row.allowedModels !== null && { allowed_models: row.allowedModels }),
    ...(row.allowedCidrs !== null && { allowed_cidrs: row.allowedCidrs }),
    ...limitWords('limits', row),
    ...budgetWords(row),
  }
}

function limitWords(name: string, { requestsPerMinute, tokensPerMinute, concurrency }: Limits): Json {
  const limits = {
    ...(requestsPerMinute !== null && { requests_per_minute: requestsPerMinute }),
    ...(tokensPerMinute !== null && { tokens_per_minute: tokensPerMinute }),
    ...(concurrency !== null && { concurrency }),
  }
  return Object.keys(limits).length === 0 ? {} : { [name]: limits }
}

function budgetWords({ budgetDay, budgetMonth, budgetTotal }: Budget): Json {
  const budget = {
    ...(budgetDay !== null && { day: usd(budgetDay) }),
    ...(budgetMonth !== null && { month: usd(budgetMonth) }),
    ...(budgetTotal !== null && { total: usd(budgetTotal) }),
  }
  return Object.keys(budget).length === 0 ? {} : { budget }
}
